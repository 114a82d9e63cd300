extern "C" __attribute__((visibility("default"))) int some_other_entry_point() {
  return 1;
}
