#include "cli/command.h"
#include "cli/streams.h"

int main(int argc, char** argv) {
  redzone::cli::open_standard_descriptors();
  return redzone::cli::run_command_line(argc, argv);
}
