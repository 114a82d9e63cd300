#include "exec/protocol.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/sample.h"

namespace redzone::exec {
namespace {

template <class T>
T through_the_wire(const T& message) {
  FrameReader reader;
  // One byte at a time, since a socket may split a message anywhere.
  const std::string bytes = encode(message).value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto early = reader.next();
    EXPECT_TRUE(early.has_value() && !early->has_value());
    reader.append(&bytes[i], 1);
  }
  auto read = reader.next();
  EXPECT_TRUE(read.has_value() && read->has_value());
  EXPECT_FALSE(reader.mid_frame());
  return std::get<T>(**read);
}

TEST(Protocol, MessagesSurviveTheWire) {
  const auto hello = through_the_wire(HelloMessage{7, {"gpu", "580", 90, "13.0", 80}});
  EXPECT_EQ(hello.pid, 7);
  EXPECT_EQ(hello.hello, (Hello{"gpu", "580", 90, "13.0", 80}));

  RunMessage run{9, redzone::testing::sample_plan(), {}};
  run.trials.push_back({run.plan.mode, {1, 0}, true});
  const auto run_read = through_the_wire(run);
  EXPECT_EQ(run_read.ticket, 9u);
  EXPECT_EQ(run_read.plan, run.plan);
  EXPECT_EQ(run_read.trials, run.trials);
  EXPECT_EQ(encode_run(9, run.plan, run.trials).value(), encode(run).value());

  TrialDoneMessage done{9, 3, true, {}};
  done.observation.end = End::fault;
  done.observation.fault.emplace().code = "CUDA_ERROR_ILLEGAL_ADDRESS";
  done.observation.calls.resize(2);
  done.observation.calls[1].buffers.resize(3);
  done.observation.calls[1].buffers[2].name = "y";
  const auto done_read = through_the_wire(done);
  EXPECT_EQ(done_read.observation, done.observation);
  EXPECT_EQ(done_read.trial, 3u);
  EXPECT_TRUE(done_read.device_lost);

  EXPECT_EQ(through_the_wire(JobDoneMessage{11}).ticket, 11u);
  through_the_wire(QuitMessage{});
}

TEST(Protocol, ReadsManyMessagesFromOneBuffer) {
  std::string bytes;
  constexpr std::uint64_t kMessages = 20000;
  for (std::uint64_t i = 0; i < kMessages; ++i) bytes += encode(JobDoneMessage{i}).value();
  FrameReader reader;
  reader.append(bytes.data(), bytes.size());
  for (std::uint64_t i = 0; i < kMessages; ++i)
    ASSERT_EQ(std::get<JobDoneMessage>(**reader.next()).ticket, i);
  EXPECT_FALSE(reader.next()->has_value());
}

// After any flipped bit the reader returns an error or waits for more bytes; it never returns a
// wrong value.
TEST(Protocol, NoFlippedBitGoesUnnoticed) {
  const std::string good = encode(JobDoneMessage{0x0123456789abcdef}).value();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    FrameReader reader;
    reader.append(bad.data(), bad.size());
    const auto message = reader.next();
    EXPECT_FALSE(message.has_value() && message->has_value()) << "bit " << bit;
  }
}

TEST(Protocol, AnErrorStays) {
  FrameReader reader;
  reader.append("this is not a message", 21);
  EXPECT_FALSE(reader.next().has_value());
  const std::string good = encode(QuitMessage{}).value();
  reader.append(good.data(), good.size());
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Protocol, RandomPayloadsOfAllTypesAreRefusedOrDecoded) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string payload(random() % 300, '\0');
    // Small bytes make plausible lengths, which reach deeper into the decoder.
    for (char& c : payload) c = static_cast<char>(random() % (i % 2 == 0 ? 3 : 256));
    const std::string bytes = frame(static_cast<std::uint16_t>(random() % 6), payload);
    FrameReader reader;
    reader.append(bytes.data(), bytes.size());
    const auto message = reader.next();
    EXPECT_FALSE(message.has_value() && !message->has_value());
    if (!message) ++refused;
  }
  EXPECT_GT(refused, 2500);
}

TEST(Protocol, ALengthAboveTheLimitIsRefusedAtTheHeader) {
  const std::string good = encode(QuitMessage{}).value();
  FrameHeader header;
  std::memcpy(&header, good.data(), sizeof header);
  header.length = kMaxPayloadBytes + 1;
  FrameReader reader;
  reader.append(reinterpret_cast<const char*>(&header), sizeof header);
  const auto message = reader.next();
  ASSERT_FALSE(message.has_value());
  EXPECT_NE(message.error().message.find("67108865"), std::string::npos);
}

TEST(Protocol, ATooLargeMessageIsNotMade) {
  TrialDoneMessage done;
  done.observation.message.assign(kMaxPayloadBytes, 'x');
  EXPECT_FALSE(encode(done).has_value());
}

}  // namespace
}  // namespace redzone::exec
