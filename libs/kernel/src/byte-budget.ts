/** Bytes that may be held at once, by all who hold some. */
export function createByteBudget(maxBytes: number) {
  let held = 0;
  return {
    held: (): number => held,
    /** A holder of its own: what it took goes back when it closes. */
    open() {
      let own = 0;
      return {
        /** False: there is no room for so much more now. */
        take: (bytes: number): boolean => {
          if (held + bytes > maxBytes) return false;
          held += bytes;
          own += bytes;
          return true;
        },
        close: (): void => {
          held -= own;
          own = 0;
        },
      };
    },
  };
}
