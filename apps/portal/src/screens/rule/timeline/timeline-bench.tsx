import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { CodeField } from '../../../ui/code-field.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { eventName } from '../../../ui/event-name.ts';
import { Actions, Card } from '../../../ui/page.tsx';
import { lazyPart, Part } from '../../../ui/part.tsx';
import { momentWords } from '../../../ui/time-words.ts';
import { useZone } from '../../../ui/zone.ts';
import { useOrigin } from '../../streams/use-origin.ts';
import { entityOf } from '../entity.ts';
import { newestEventsQuery, readEvents, sampleQuery } from '../queries.ts';
import { isListening, savingOf, type RuleProps } from '../rule-props.ts';
import rule from '../rule.module.css';
import { AddToPlan } from './add-to-plan.tsx';
import { newestOfEntity } from './newest-of-entity.ts';
import {
  EMPTY_PLAN,
  letPass,
  testOf,
  withCame,
  withEvent,
  withoutEvent,
  withSample,
  withText,
  type Plan,
} from './plan.ts';
import { sampleEvents } from './sample-events.ts';
import { StepAxis } from './step-axis.tsx';
import { StepTable } from './step-table.tsx';
import { rowsOf, type Step, type TimelineRow } from './steps.ts';
import type { SavedTest } from './save-as-test.tsx';

const SaveAsTest = lazyPart(() => import('./save-as-test.tsx').then(({ SaveAsTest: loaded }) => loaded));

const NOT_SAVED = 'Not run, because the rule on the screen is not saved. The page says why.';
const NEW_CHANGE = '{\n  "op": "update",\n  "event": {},\n  "previous": {}\n}';

type Run = {
  readonly steps: readonly Step[];
  readonly plan: Plan;
  readonly sample: readonly string[];
  readonly of: string;
};

/** Tries a rule that looks at several events: events and passing time on a timeline. It notifies nobody. */
export function TimelineBench(props: RuleProps & { readonly onRunner: (run: () => void) => void }): ReactNode {
  const { draft, name, rule: given, stream, onRunner } = props;
  const { workspace, name: n } = draft;
  const title = `${n}.${name}`;
  const zone = useZone();
  const { event: asksFor } = useSearch({ from: '/workspaces/$w/notifications/$n/rules/$r' });
  const { hasChanges, body } = useOrigin(workspace, given.stream);
  const noun = entityOf(given, body).noun || 'entity';
  const found = useQuery({ ...sampleQuery(workspace, title, savingOf(draft)), enabled: draft.faults.length === 0 });
  const sample = sampleEvents(found.data);
  const newest = useQuery({
    ...newestEventsQuery(workspace, stream ?? ''),
    enabled: stream !== undefined && isListening({ draft, name, rule: given }),
  });
  const came = newest.data?.items ?? [];
  const clock = (at: number | string): string => momentWords(new Date(at), new Date(), zone);
  const [begun] = useState(() => Date.now());
  const [changed, setPlan] = useState<Plan | null>(null);
  const plan = changed ?? firstPlan(asksFor, sample, begun);
  const [answer, setAnswer] = useState('');
  const [good, setGood] = useState<Run | null>(null);
  const [opened, setOpened] = useState<number | null>(null);
  const [isSaving, setSaving] = useState(false);
  const asked = answer.trim() === '' ? {} : { answer };
  const isOld = good !== null && good.of !== JSON.stringify([given, testOf(plan, sample), asked]);
  const test = useMutation({
    onSuccess: setGood,
    mutationFn: async (): Promise<Run> => {
      if (!(await draft.saveNow())) throw new Error(NOT_SAVED);
      // The rule as it was saved just now, and the smallest event of that rule: this render may be older.
      const saved = draft.latest();
      const now =
        saved.faults.length === 0 && plan.events.some(({ source }) => source.kind === 'minimum')
          ? sampleEvents(
              await queryClient.fetchQuery({ ...sampleQuery(workspace, title, savingOf(saved)), staleTime: 60_000 }),
            )
          : sample;
      const planned = changed ?? firstPlan(asksFor, now, begun);
      const tested = testOf(planned, now);
      const { timeline } = await runTest(workspace, title, { ...tested, ...asked, drafts: saved.hasDraft });
      const of = JSON.stringify([saved.body?.rules?.[name], tested, asked]);
      return { steps: timeline, plan: planned, sample: now, of };
    },
  });
  const addCame = useMutation({
    mutationFn: async (id: string) => {
      if (!(await draft.saveNow())) throw new Error(NOT_SAVED);
      const { hasDraft: drafts } = draft.latest();
      return newestOfEntity(id, {
        readPage: (cursor) => readEvents(workspace, stream ?? '', cursor),
        entitiesOf: async (events) => {
          const tested = { events: events.map((event) => ({ event_id: event.id })), drafts };
          const { timeline } = await runTest(workspace, title, tested);
          return new Map(timeline.map((step) => [step.event_id ?? '', step.entity]));
        },
      });
    },
    onSuccess: (events) =>
      setPlan((before) =>
        withCame(
          before ?? plan,
          events.map((event) => ({
            at: Date.parse(event.at),
            label: event.label ?? event.id,
            source: { kind: 'log', id: event.id },
          })),
        ),
      ),
  });
  const canRun = plan.events.length > 0;
  const run = (): void => {
    if (canRun && !test.isPending) test.mutate();
  };
  useEffect(() => onRunner(run));
  const rows = rowsOf(plan, isOld ? null : (good?.steps ?? null));
  const shown = { rows, opened, onOpen: setOpened, clock };
  const addPasted = (): void => {
    const last = plan.events.at(-1)?.source;
    const text = last?.kind === 'pasted' ? last.text : pretty(sample.at(-1) ?? (hasChanges ? NEW_CHANGE : '{\n  \n}'));
    setPlan(withEvent(plan, { kind: 'pasted', text }, 'Event', Date.now()));
  };
  const saved: SavedTest | null = good && !isOld ? { ...good, rule: title, hasChanges, answer } : null;
  return (
    <Card
      title="Test bench"
      beside={
        <Actions>
          <Button isDisabled={!canRun || test.isPending} onPress={run}>
            Run <kbd>Ctrl ↵</kbd>
          </Button>
          <Button off={saved === null ? 'Run the test first.' : null} onPress={() => setSaving(true)}>
            Save as test
          </Button>
        </Actions>
      }
    >
      <p>
        Events of one {noun} in order, each with what the rule does. Nobody is notified.
        {plan.until === null ? ' After the last event all deadlines pass.' : ` Time passes until ${clock(plan.until)}.`}
      </p>
      <StepAxis {...shown} />
      <StepTable
        {...shown}
        onRemove={(key) => {
          setOpened(null);
          setPlan(withoutEvent(plan, key));
        }}
        renderEditor={(row) => editorOf(row, hasChanges, run, (key, text) => setPlan(withText(plan, key, text)))}
      />
      <AddToPlan
        noun={noun}
        came={came.map((event) => ({ id: event.id, name: eventName(event, new Date(), zone) }))}
        isBusy={addCame.isPending}
        onMinimum={() => setPlan(withSample(plan, 1, Date.now()))}
        onPasted={addPasted}
        onCame={(id) => addCame.mutate(id)}
        onPass={(span) => setPlan(letPass(plan, span, Date.now()))}
      />
      {given.recipients?.from === 'lookup' && (
        <CodeField
          label="Answer of the partner"
          note='As JSON: [{"to": {"email": "…"}, "variables": {…}}]. If empty, the test shows the user ids in the question.'
          language="json"
          minLines={3}
          value={answer}
          onChange={setAnswer}
        />
      )}
      {(test.error ?? addCame.error) && <Problem error={(test.error ?? addCame.error) as Error} />}
      {isOld && <p className={cls(rule.note)}>The rule or an event has changed. Run the test bench again.</p>}
      {isSaving && saved !== null && (
        <Part>
          <SaveAsTest workspace={workspace} test={saved} onClose={() => setSaving(false)} />
        </Part>
      )}
      <Curl
        call={{
          method: 'POST',
          path: `/v1/workspaces/${workspace}/rules/${title}/test`,
          body: { ...testOf(plan, sample), ...asked, drafts: draft.hasDraft },
        }}
      />
    </Card>
  );
}

/** The bench begins with the event from whose page a person comes, else with as many events as the rule needs. */
const firstPlan = (eventId: string | undefined, sample: readonly string[], now: number): Plan =>
  eventId === undefined
    ? withSample(EMPTY_PLAN, Math.max(1, sample.length), now)
    : withEvent(EMPTY_PLAN, { kind: 'log', id: eventId }, eventId, now);

type TestCall = {
  readonly events: { at?: string; event?: string; event_id?: string }[];
  readonly until?: string;
  readonly answer?: string;
  readonly drafts: boolean;
};
const runTest = (workspace: string, name: string, body: TestCall) =>
  bodyOf(api.POST('/v1/workspaces/{workspace}/rules/{name}/test', { params: { path: { workspace, name } }, body }));

/** The same JSON over several lines. Text that is no JSON stays. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The body of an event that is typed. */
function editorOf(
  row: TimelineRow,
  hasChanges: boolean,
  onRun: () => void,
  onText: (key: number, text: string) => void,
): ReactNode {
  if (row.kind !== 'event' || row.planned.source.kind !== 'pasted') return null;
  const { key, source } = row.planned;
  return (
    <CodeField
      label={hasChanges ? 'Change as JSON' : 'Event as JSON'}
      hidesLabel
      language="json"
      minLines={4}
      value={source.kind === 'pasted' ? source.text : ''}
      onChange={(text) => onText(key, text)}
      onRun={onRun}
    />
  );
}
