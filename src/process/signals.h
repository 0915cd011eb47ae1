// What Launcher::run needs to know of stop signals beyond the public interface.
#pragma once

namespace assay::process {

// How many stop signals have arrived so far.
unsigned stop_signal_count();
// Readable after a stop signal until clear_stop_wakeup(); -1 before install_signal_handlers().
int stop_wakeup_fd();
void clear_stop_wakeup();

}  // namespace assay::process
