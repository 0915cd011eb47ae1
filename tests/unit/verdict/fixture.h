// Synthetic campaigns with known answers: every figure follows from the seed and the knobs.
#pragma once

#include "assay/verdict/report.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::verdict {

struct Knobs {
  int batches = 10, pairs = 6, warmups = 1;
  std::vector<std::string> cases = {"candidate"};
  std::vector<int> looks;
  bool blocks_order = false;
  double ratio = 1.0;   // candidate / reference, every figure
  double noise = 0.01;  // half-width of the uniform relative noise of one run
  double base_ns = 500e6;
  Gates gates;
  std::int64_t draws = 50;
  std::int64_t seed = 7;
};

CompareInputs make_inputs(const Knobs& knobs = {});
// Changes every sample for which `which` is true.
void edit(CompareInputs& inputs, const std::function<bool(const Sample&)>& which,
          const std::function<void(Sample&)>& change);
bool is_candidate(const Sample& sample);
bool measured(const Sample& sample);

// Shorthands; derive() fails the test on an error and returns an empty object.
Json derive(const CompareInputs& inputs);
std::string status_of(const Json& report, const std::string& kind);
bool has(const Json& list, const std::string& code);

}  // namespace assay::verdict
