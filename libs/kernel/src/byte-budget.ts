/**
 * Limits the bytes held at a time by all holders together. If shared, one holder takes at most an eighth of the budget,
 * and at most a quarter of the rest, so that new holders always find room.
 */
export function createByteBudget(maxBytes: number, { shared = false }: { readonly shared?: boolean } = {}) {
  const holders = new Map<string, number>();
  let held = 0;
  return {
    held: (): number => held,
    /** A piece of work of this holder: what it took goes back when it closes. */
    open(holder = '') {
      let own = 0;
      return {
        /** False: there is no room for so much more now. */
        take: (bytes: number): boolean => {
          const after = (holders.get(holder) ?? 0) + bytes;
          const left = maxBytes - held - bytes;
          if (left < 0 || (shared && after > Math.min(maxBytes / 8, left / 4))) return false;
          held += bytes;
          own += bytes;
          holders.set(holder, after);
          return true;
        },
        close: (): void => {
          const after = (holders.get(holder) ?? 0) - own;
          held -= own;
          own = 0;
          if (after > 0) holders.set(holder, after);
          else holders.delete(holder);
        },
      };
    },
  };
}
