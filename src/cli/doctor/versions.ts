/** Just enough of version numbers for the ranges that our package.json has. */
function numbers(version: string): number[] {
  const [core = ""] = version.replace(/^[^\d]*/, "").split(/[-+]/);
  return core.split(".").map(Number);
}

export function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [numbers(version), numbers(least)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (ours[index] ?? 0) - (theirs[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Whether a version is in a range such as `^1.4.0`. */
export function isInCaret(version: string, range: string): boolean {
  return numbers(version)[0] === numbers(range)[0] && isAtLeast(version, range);
}
