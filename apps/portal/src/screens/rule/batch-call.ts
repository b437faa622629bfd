import type { Sample } from './queries.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command that sends the event of a sample twice, in one request. */
export function batchCall({ url, event, credential }: Pick<Sample, 'url' | 'event' | 'credential'>): string {
  // A line break outside of texts is white space, and within a text JSON escapes it.
  const line = quoted(event.replaceAll(/\n\s*/g, ' '));
  return `# Up to 1,000 events, one on each line. Line N is named <Idempotency-Key>:<N>: send the same request again if no answer comes.
printf '%s\\n' \\
  ${line} \\
  ${line} |
  curl -sS --fail-with-body -X POST ${quoted(url)} --data-binary @- \\
    -H "Authorization: Bearer \${${credential.variable}:?is not set}" \\
    -H 'Content-Type: application/x-ndjson' \\
    -H "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')"
`;
}
