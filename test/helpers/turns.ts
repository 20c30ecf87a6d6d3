/** How often the event loop turns while `work` goes on. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  turn();
  await work;
  isOver = true;
  return turns;
}
