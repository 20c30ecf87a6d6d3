/** A seed for a property test. The title contains it, so that a failure can be reproduced. */
export function newSeed(): number {
  const given = process.env.GRAPH_SERVE_TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}
