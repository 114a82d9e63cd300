#include "core/campaign_record.h"

namespace redzone {

CampaignStats& CampaignStats::operator+=(const CampaignStats& more) {
  seconds += more.seconds;
  plans += more.plans;
  calls += more.calls;
  trials += more.trials;
  pass += more.pass;
  fail += more.fail;
  inconclusive += more.inconclusive;
  not_applicable += more.not_applicable;
  harness_errors += more.harness_errors;
  suspects += more.suspects;
  new_findings += more.new_findings;
  known_findings += more.known_findings;
  workers_lost += more.workers_lost;
  reference += more.reference;
  return *this;
}

}  // namespace redzone
