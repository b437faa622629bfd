/** Whether two values of JSON say the same; the order of keys says nothing. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  const valueOf = (of: object, key: string): unknown => (of as Readonly<Record<string, unknown>>)[key];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(valueOf(one, key), valueOf(other, key)))
  );
}
