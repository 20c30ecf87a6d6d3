/** Compares versions with the ranges of package.json. */

/** Parses versions as far as the ranges in our package.json need it. */
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

/** Whether a version is in a range such as `^1.4.0` or `>=0.4 <2`. */
export function isInRange(version: string, range: string): boolean {
  const [least = "", below] = range.split(" ");
  const isBelow = below ? !isAtLeast(version, below) : numbers(version)[0] === numbers(least)[0];
  return isAtLeast(version, least) && isBelow;
}
