/** How kafkajs makes requests of one kind, by version of the protocol. */
export type RequestKind<Arguments, Made> = {
  protocol: (of: { readonly version: number }) => (args: Arguments) => Made;
};

const changed = new WeakSet<object>();

/**
 * Applies `change` to every request of this kind that kafkajs makes in this process, for any client. Idempotent per
 * kind.
 */
export function changeRequests<Arguments, Made>(
  kind: RequestKind<Arguments, Made>,
  change: (made: Made, args: Arguments, version: number) => Made,
): void {
  if (changed.has(kind)) return;
  changed.add(kind);
  const { protocol } = kind;
  kind.protocol = ({ version }) => {
    const make = protocol({ version });
    return (args) => change(make(args), args, version);
  };
}
