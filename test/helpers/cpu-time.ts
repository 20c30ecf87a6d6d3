/** The CPU time of this process so far, in ms. Unlike elapsed time, other processes on the machine do not lengthen it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
