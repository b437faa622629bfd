/** What is gone through: states, the steps that may come next, and what must hold. */
export type Explorable<State> = {
  begin(): State;
  next(state: State): Iterable<readonly [label: string, next: State]>;
  /** Returns a key that distinguishes states. */
  key(state: State): string;
  /** A step that need not happen, such as a crash: a state with no others is an end. */
  isOptional(label: string): boolean;
  /** What is wrong with a state. */
  fault(state: State, isEnd: boolean): string | undefined;
  /** The name of an end, to see that all kinds of them are reached. */
  nameOf(state: State): string;
};

export type Explored = {
  readonly states: number;
  readonly ends: ReadonlySet<string>;
  readonly violation: readonly string[] | null;
};

/** Goes through every order of steps, breadth first, so that a violation comes with a shortest story. */
export function exploreAll<State>(model: Explorable<State>): Explored {
  const keys = new Set<string>();
  const ends = new Set<string>();
  type Node = { readonly state: State; readonly label: string; readonly before: Node | null };
  let wave: Node[] = [{ state: model.begin(), label: 'begin', before: null }];
  while (wave.length > 0) {
    const following: Node[] = [];
    for (const node of wave) {
      const steps = [...model.next(node.state)];
      const isEnd = steps.every(([label]) => model.isOptional(label));
      const found = model.fault(node.state, isEnd);
      if (found !== undefined) {
        const story: string[] = [];
        for (let at: Node | null = node; at; at = at.before) story.unshift(at.label);
        return { states: keys.size, ends, violation: [...story, found] };
      }
      if (isEnd) ends.add(model.nameOf(node.state));
      for (const [label, state] of steps) {
        const key = model.key(state);
        if (keys.has(key)) continue;
        keys.add(key);
        following.push({ state, label, before: node });
      }
    }
    wave = following;
  }
  return { states: keys.size, ends, violation: null };
}
