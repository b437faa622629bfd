import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { Quiet } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Code } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import type { Source } from './queries.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { SOURCE_STATES } from './source-text.ts';

const ResetSource = lazy(async () => ({ default: (await import('./reset-source.tsx')).ResetSource }));

/** The state of a source in a word, since when, in a sentence, and the SQL or line that ends it. */
export function SourceState({ source }: { readonly source: Source }): ReactNode {
  const { tone, words } = SOURCE_STATES[source.state];
  const isReadWhole = source.state === 'running' && source.tables.every(({ problem }) => problem === null);
  return (
    <>
      <p role="status">
        <Lamp tone={source.state === 'running' && !isReadWhole ? 'held' : tone} name={source.state}>
          {words}
        </Lamp>{' '}
        <Quiet>
          since <Time at={source.since} />
        </Quiet>
      </p>
      {!isReadWhole && (
        <p>
          <Sentence text={source.sentence} />
        </p>
      )}
      {source.fix !== null && <Code text={source.fix} what={`the fix of ${source.name}`} />}
    </>
  );
}

/** Opens the reset of a source. A source that stopped or leaves has it, or that waits for a schema. */
export function ResetButton({ source }: { readonly source: Source }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const off = useMay('operate', source.workspace);
  const isRequested = source.reset_requested_at !== null;
  const canReset = !isRequested && (source.span !== null || source.span_at_end !== null);
  return (
    <>
      {isRequested && <Quiet>Reset requested</Quiet>}
      {canReset && (
        <Button off={off} onPress={() => setAsking(true)}>
          {source.state === 'leaving' ? 'Remove the source' : 'Reset the source'}
        </Button>
      )}
      {isAsking && (
        <Suspense fallback={null}>
          <ResetSource source={source} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
