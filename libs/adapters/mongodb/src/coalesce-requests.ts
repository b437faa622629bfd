/** Maximum items per request. More items are sent as concurrent requests, which a database handles faster. */
const LARGEST = 64;

type Waiting<Item, Answer> = {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Combines requests of the same tick into one and gives each caller its own result. `askMany` returns results in the
 * order of its items, which have distinct keys; if it rejects, all callers get the error. A single item uses `askOne`.
 * With `oneAtATime`, requests made during another one wait for its end, so that no result is older than its request.
 */
export function coalesceRequests<Item, Answer>(
  keyOf: (item: Item) => string,
  askOne: (item: Item) => Promise<Answer>,
  askMany: (items: readonly Item[]) => Promise<readonly Answer[]>,
  { oneAtATime } = { oneAtATime: false },
): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let underWay = 0;

  async function ask(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    const [only] = group;
    try {
      if (only && group.length === 1) only.resolve(await askOne(only.item));
      else {
        const answers = await askMany(group.map(({ item }) => item));
        for (const [at, one] of group.entries()) one.resolve(answers[at] as Answer);
      }
    } catch (error) {
      for (const one of group) one.reject(error);
    }
  }

  async function askInPlace(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    underWay += 1;
    await ask(group);
    underWay -= 1;
    if (oneAtATime && underWay === 0) begin();
  }

  function begin(): void {
    const all = waiting;
    waiting = [];
    for (const group of groupsOf(all, ({ item }) => keyOf(item))) void askInPlace(group);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0 && !(oneAtATime && underWay > 0)) setImmediate(begin);
      waiting.push({ item, resolve, reject });
    });
}

/** Groups of at most `LARGEST` in which no key comes twice. */
function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly (readonly Item[])[] {
  const groups: { readonly keys: Set<string>; readonly items: Item[] }[] = [];
  let open = 0;
  for (const item of items) {
    const key = keyOf(item);
    while ((groups[open]?.items.length ?? 0) >= LARGEST) open += 1;
    const group = groups.slice(open).find((one) => !one.keys.has(key) && one.items.length < LARGEST);
    if (group) {
      group.keys.add(key);
      group.items.push(item);
    } else groups.push({ keys: new Set([key]), items: [item] });
  }
  return groups.map((group) => group.items);
}
