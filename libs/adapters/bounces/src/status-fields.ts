export type StatusFields = ReadonlyMap<string, string>;

/** A report has a group for the message and one for each recipient; more than this is no report about one mail of ours. */
const MAX_GROUPS = 50;

/**
 * The groups of fields in a `message/delivery-status` or `message/feedback-report` part (RFC 3464 2.1, RFC 5965 3.1):
 * lines `Name: value`, folded lines joined, an empty line between groups. Of a name that comes twice the first counts.
 */
export function readStatusFields(text: string): readonly StatusFields[] {
  const groups = text.replaceAll(/\r\n?/g, '\n').split(/\n[ \t]*\n+/, MAX_GROUPS);
  return groups.map(fieldsOf).filter((fields) => fields.size > 0);
}

function fieldsOf(group: string): StatusFields {
  const fields = new Map<string, string>();
  for (const line of group.replaceAll(/\n[ \t]+/g, ' ').split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}
