#include "facts.h"

#include "assay/base/sha256.h"

#include <array>

namespace assay::host {
namespace {

// What moves times or their spread and stays put by itself: no load, no current frequency, no
// memory in use, nothing that depends on where this process may run.
constexpr std::array kSettings = {"architecture",
                                  "aslr",
                                  "cgroup_cpu_limit",
                                  "cgroup_memory_limit_bytes",
                                  "clock_source",
                                  "cpu_model",
                                  "frequency_driver",
                                  "governor",
                                  "hypervisor",
                                  "kernel_release",
                                  "logical_cpus",
                                  "os_name",
                                  "smt_active",
                                  "transparent_hugepages",
                                  "turbo"};

}  // namespace

Json fingerprint(const Json& collected, const std::string& salt, const Roots& roots) {
  Json out = Json::object();
  for (const char* key : kSettings) {
    const auto field = collected.find(key);
    out[key] = field != collected.end() && field->is_object() ? field->value("value", Json(nullptr))
                                                              : Json(nullptr);
  }
  // The id itself is confidential (machine-id(5)), and unsalted it would link every archive.
  const auto id = read_word(roots.etc + "/machine-id");
  const bool known = id && *id != "uninitialized";
  out["machine"] = known ? Json(sha256_hex("assay machine\n" + salt + "\n" + *id)) : Json(nullptr);
  return out;
}

}  // namespace assay::host
