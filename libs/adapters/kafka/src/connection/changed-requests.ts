/** How kafkajs makes requests of one kind, by version of the protocol. */
export type RequestKind<Arguments, Made> = {
  protocol: (of: { readonly version: number }) => (args: Arguments) => Made;
};

const changed = new WeakSet<object>();

/**
 * From now on every request of this kind that kafkajs makes in this process, for whatever client, goes through `change`. Done once
 * per kind, however often it is asked for.
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
