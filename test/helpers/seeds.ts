/** The seed of a property test: named in its title, so that every report tells how to make the same values again. */
export function newSeed(): number {
  const given = process.env.GRAPH_SERVE_TEST_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}
