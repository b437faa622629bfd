/** So many items go in one request: of more, several requests are under way side by side, which a database does sooner. */
const LARGEST = 64;

type Waiting<Item, Answer> = {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes one request of what is asked for in the same turn of the process, and hands each caller its own answer. `askMany` answers in
 * the order of its items, of which no two have the same key; what it rejects with, all of them get. What is asked for alone is `askOne`'s.
 * With `oneAtATime`, what is asked for while a request is under way waits for its end, and goes together: no answer is older than the question.
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
