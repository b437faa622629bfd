import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Code } from '../../ui/text.tsx';
import styles from './streams.module.css';

/** Returns the call that sends a file with an event on each line. `variable` holds the credential. */
export const batchCode = (url: string, variable: string): string => `# events.ndjson: one JSON object on each line
curl -sS --fail-with-body -X POST '${url}' \\
  -H "Authorization: Bearer \${${variable}:?is not set}" \\
  -H 'Content-Type: application/x-ndjson' \\
  -H 'Idempotency-Key: import-17' \\
  --data-binary @events.ndjson
`;

/** Returns the same with the package `@carillon/client`, which repeats what may pass later. */
export function clientCode(url: string, variable: string): string {
  const [base = '', stream = ''] = url.split('/events/');
  return `import { createClient } from '@carillon/client';

const carillon = createClient({ url: '${base}', credential: process.env.${variable} });
const results = await carillon.sendBatch('${stream}', events, { key: 'import-17' });
`;
}

/** The call for many events in one request, by curl and by the client. */
export function SendMany({ url, variable }: { readonly url: string; readonly variable: string }): ReactNode {
  return (
    <Card title="Many events in one request">
      <p>
        One request carries up to 1,000 events and 5 MiB. The answer has an id or a problem for each event, in order.
      </p>
      <Tabs
        label="Ways to send"
        tabs={[
          {
            id: 'curl',
            name: 'curl',
            content: <Code text={batchCode(url, variable)} what="the call for many events" />,
          },
          {
            id: 'client',
            name: '@carillon/client',
            content: <Code text={clientCode(url, variable)} what="the program for many events" />,
          },
        ]}
      />
      <p className={cls(styles.note)}>
        Use a new Idempotency-Key for each file. If no answer comes, send the same file with the same key again: no
        event counts twice.
      </p>
      <p>
        The URL accepts CloudEvents 1.0 too: <code>application/cloudevents+json</code>, a batch as{' '}
        <code>application/cloudevents-batch+json</code>, or headers <code>ce-…</code>. The field <code>data</code> is
        the event.
      </p>
    </Card>
  );
}
