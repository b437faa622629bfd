import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { CircleCheck, CircleX } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { Curl } from '../../ui/curl.tsx';
import { eventName } from '../../ui/event-name.ts';
import { changeName } from '../sources/change-text.ts';
import { Actions, Card } from '../../ui/page.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Segments } from '../../ui/segments.tsx';
import { useZone } from '../../ui/zone.ts';
import { useOrigin } from '../streams/use-origin.ts';
import { newestEventsQuery, sampleQuery, type Sample } from './queries.ts';
import { savingOf, isListening, type RuleProps } from './rule-props.ts';
import { decidingPart, verdictOf, type Tested } from './verdict.ts';
import styles from './rule.module.css';

const TestedRecipients = lazyPart(() =>
  import('./tested-recipients.tsx').then(({ TestedRecipients: loaded }) => loaded),
);
const AskPartner = lazyPart(() => import('./ask-partner.tsx').then(({ AskPartner: loaded }) => loaded));

const SOURCES = [
  { id: 'newest', name: 'Newest events' },
  { id: 'minimum', name: 'Minimum event' },
  { id: 'pasted', name: 'Pasted' },
] as const;
const NOT_SAVED = 'Not run, because the rule on the screen is not saved. The page says why.';
/** An update to fill in, for a rule on a stream of changes. */
const NEW_CHANGE = '{\n  "op": "update",\n  "event": {},\n  "previous": {}\n}';
type Source = (typeof SOURCES)[number]['id'];

/** Tries the rule as it is edited on an event, and tells nobody. */
export function TestBench({
  draft,
  name,
  rule,
  stream,
  onRunner,
}: RuleProps & {
  /** Receives the function that runs the bench, whenever it changes. */
  readonly onRunner: (run: () => void) => void;
}): ReactNode {
  const { workspace, name: n, hasDraft } = draft;
  const title = `${n}.${name}`;
  const zone = useZone();
  const newest = useQuery({
    ...newestEventsQuery(workspace, stream ?? ''),
    enabled: stream !== undefined && isListening({ draft, name, rule }),
  });
  const sample = useQuery({
    ...sampleQuery(workspace, title, savingOf(draft)),
    enabled: stream !== undefined && draft.faults.length === 0,
  });
  const events = newest.data?.items ?? [];
  const [picked, setPicked] = useState<Source | null>(null);
  const isKnown = (id: string): boolean => events.some((one) => one.id === id);
  const source: Source = picked ?? (events.length > 0 ? 'newest' : 'minimum');
  // Whoever comes from the story of an event tries that one, however old it is.
  const { event: asksFor } = useSearch({ from: '/workspaces/$w/notifications/$n/rules/$r' });
  const [eventId, setEventId] = useState(asksFor ?? null);
  const { hasChanges } = useOrigin(workspace, rule.stream);
  const [typed, setPasted] = useState<string | null>(null);
  const pasted = typed ?? (hasChanges ? NEW_CHANGE : '{\n  \n}');
  const [answer, setAnswer] = useState('');
  const chosenId = eventId !== null && (eventId === asksFor || isKnown(eventId)) ? eventId : (events[0]?.id ?? null);
  const bodyOn = (minimum: string, drafts: boolean) => ({
    ...(source === 'newest' ? { event_id: chosenId ?? '' } : { event: source === 'minimum' ? minimum : pasted }),
    ...(answer.trim() !== '' && { answer }),
    drafts,
  });
  const body = bodyOn(minimumOf(sample.data), hasDraft);
  // The newest good result stays, greyed, while the next one is worked out or was refused, and where it is of another rule or event.
  const [good, setGood] = useState<{ readonly tested: Tested; readonly of: string } | null>(null);
  const isOld = good !== null && good.of !== JSON.stringify([rule, body]);
  const test = useMutation({
    onSuccess: (result) => setGood(result),
    mutationFn: async (isAsked: boolean) => {
      if (!(await draft.saveNow())) throw new Error(NOT_SAVED);
      // The rule as it was saved just now, and the minimum event of that rule: this render may be older.
      const saved = draft.latest();
      const minimum =
        source === 'minimum' && saved.faults.length === 0
          ? await queryClient.fetchQuery({ ...sampleQuery(workspace, title, savingOf(saved)), staleTime: 60_000 })
          : sample.data;
      const now = bodyOn(minimumOf(minimum), saved.hasDraft);
      const { answer: _pasted, ...unanswered } = now;
      const tested = await bodyOf(
        api.POST('/v1/workspaces/{workspace}/rules/{name}/test', {
          params: { path: { workspace, name: title } },
          body: isAsked ? { ...unanswered, ask_partner: true } : now,
        }),
      );
      return { tested, of: JSON.stringify([saved.body?.rules?.[name], now]) };
    },
  });
  const canRun = source !== 'newest' || chosenId !== null;
  const run = (): void => {
    if (canRun && !test.isPending) test.mutate(false);
  };
  useEffect(() => onRunner(run));
  const isLookup = rule.recipients?.from === 'lookup';
  return (
    <Card
      title="Test bench"
      beside={
        <Button isDisabled={!canRun || test.isPending} onPress={run}>
          Run <kbd>Ctrl ↵</kbd>
        </Button>
      }
    >
      <Segments label="Which event" options={SOURCES} chosen={source} onChoose={setPicked} />
      {source === 'newest' &&
        (chosenId === null ? (
          <Actions>
            <span>No events yet.</span>
            <Button onPress={() => setPicked('minimum')}>Use the minimum event</Button>
          </Actions>
        ) : (
          <NativeSelect
            label="Event"
            options={[
              ...(asksFor === undefined || isKnown(asksFor) ? [] : [{ id: asksFor, name: asksFor }]),
              ...events.map((event) => ({
                id: event.id,
                name: [eventName(event, new Date(), zone), ...(event.change ? [changeName(event.change)] : [])].join(
                  ' · ',
                ),
              })),
            ]}
            value={chosenId}
            onChange={setEventId}
          />
        ))}
      {source === 'minimum' && (
        <CodeField
          label="Minimum event"
          language="json"
          isReadOnly
          minLines={3}
          value={pretty(minimumOf(sample.data))}
          onChange={() => undefined}
        />
      )}
      {source === 'pasted' && (
        <CodeField
          label={hasChanges ? 'Change as JSON' : 'Event as JSON'}
          note={hasChanges ? 'op is create, update, delete or snapshot. previous is the row before.' : undefined}
          language="json"
          minLines={8}
          value={pasted}
          onChange={setPasted}
          onRun={run}
        />
      )}
      {isLookup && (
        <CodeField
          label="Answer of the partner"
          note='As JSON: [{"to": {"email": "…"}, "variables": {…}}]. If empty, the test shows the user ids in the question.'
          language="json"
          minLines={3}
          value={answer}
          onChange={setAnswer}
        />
      )}
      {test.error && <Problem error={test.error} />}
      {good === null && !test.error && <p>Press Run to see what this event would do. Nobody is notified.</p>}
      {good !== null && (
        <div className={cls(styles.result, (test.isPending || test.isError || isOld) && styles.old)}>
          {isOld && <p>This result is of an earlier rule or event. Run it again.</p>}
          <Result tested={good.tested} />
          {good.tested.asks !== null && !isOld && (
            <Part>
              <AskPartner
                workspace={workspace}
                asks={good.tested.asks}
                isBusy={test.isPending}
                onAsk={() => test.mutate(true)}
              />
            </Part>
          )}
        </div>
      )}
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/rules/${title}/test`, body }} />
    </Card>
  );
}

/** The smallest event or change that fires the rule, as JSON text. Empty: it is not known yet. */
const minimumOf = (sample: Sample | undefined): string => sample?.change ?? sample?.event ?? '';

/** The same JSON over several lines; text that is none stays. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Result({ tested }: { readonly tested: Tested }): ReactNode {
  const { fires, words } = verdictOf(tested);
  const decided = decidingPart(tested.explained);
  const Shape = fires ? CircleCheck : CircleX;
  return (
    <>
      <p role="status" className={cls(styles.verdict, fires ? styles.fires : styles.stays)}>
        <Shape size={16} aria-hidden />
        <span>{words}</span>
      </p>
      {tested.explained.length > 0 && (
        <ul aria-label="Values of the parts" className={cls(styles.parts)}>
          {tested.explained.map(({ source, depth, value }, at) => (
            <li
              // Parts of one expression may be written alike; they have no other name than their place.
              key={`${at} ${source}`}
              className={cls(at === decided && styles.decided)}
              style={{ paddingLeft: 8 + depth * 16 }}
            >
              <code>{source}</code>
              <code>
                {value}
                {at === decided && <b> decided</b>}
              </code>
            </li>
          ))}
        </ul>
      )}
      <Part>
        <TestedRecipients tested={tested} />
      </Part>
    </>
  );
}
