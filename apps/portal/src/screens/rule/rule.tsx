import { useNavigate, useParams } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useRef, type ReactNode } from 'react';
import { Empty } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { say } from '../../ui/notices.ts';
import { useEditorKeys } from '../drafts/use-editor-keys.ts';
import { NotificationFrame, type NotificationDraft } from '../notifications/notification-frame.tsx';
import { TestBench } from './test-bench.tsx';
import { streamOf, textOf, type Rule, type RuleProps } from './rule-props.ts';
import { RuleWaiting } from './rule-waiting.tsx';
import { Recipients } from './recipients.tsx';
import { useOrigin } from '../streams/use-origin.ts';
import { Conditions, looksBack } from './conditions.tsx';
import { readsPrevious } from './entity.ts';
import styles from './rule.module.css';

/** Comes after the page. */
const TimelineBench = lazy(async () => ({ default: (await import('./timeline/timeline-bench.tsx')).TimelineBench }));
/** Stands below the rule: it comes after it. */
const EventStream = lazy(async () => ({ default: (await import('./event-stream.tsx')).EventStream }));

const FROM = '/workspaces/$w/notifications/$n/rules/$r';

/** The editor of a rule: condition, recipients, sample event, and test. */
export function RuleEditor(): ReactNode {
  const { w, n, r } = useParams({ from: FROM });
  return (
    <NotificationFrame w={w} n={n} isWide>
      {(draft) => {
        const rules = draft.body.rules ?? {};
        const rule = Object.hasOwn(rules, r) ? rules[r] : undefined;
        if (rule === undefined) return <NoRule w={w} n={n} r={r} />;
        return <Editor key={r} draft={draft} name={r} rule={rule} />;
      }}
    </NotificationFrame>
  );
}

function NoRule({ w, n, r }: { readonly w: string; readonly n: string; readonly r: string }): ReactNode {
  return (
    <Empty
      title={`There is no rule ${r}`}
      action={
        <Link to="/workspaces/$w/notifications/$n/rules" params={{ w, n }}>
          Rules of this notification
        </Link>
      }
    >
      The rule was removed or renamed.
    </Empty>
  );
}

function Editor({
  draft,
  name,
  rule,
}: {
  readonly draft: NotificationDraft;
  readonly name: string;
  readonly rule: Rule;
}): ReactNode {
  const { workspace: w, name: n } = draft;
  const navigate = useNavigate();
  const run = useRef<() => void>(() => undefined);
  const setRunner = useCallback((next: () => void) => {
    run.current = next;
  }, []);
  useEditorKeys(draft, () => run.current());
  const change: RuleProps['change'] = (next) =>
    draft.change((before) => {
      const own = before.rules?.[name];
      return own === undefined ? before : { ...before, rules: { ...before.rules, [name]: next(own) } };
    });
  const props: RuleProps = { draft, name, rule, stream: streamOf(w, n, name, rule), change };
  const isOn = rule.enabled !== false;
  const remove = (): void => {
    draft.change((before) => {
      const { [name]: _gone, ...rules } = before.rules ?? {};
      return { ...before, rules };
    });
    say(`The draft removes the rule ${name}.`);
    void navigate({ to: '/workspaces/$w/notifications/$n/rules', params: { w, n } });
  };
  return (
    <>
      <div className={cls(styles.title)}>
        <h2>
          Rule <code>{name}</code>
        </h2>
        <Button
          off={draft.off}
          onPress={() => change(({ enabled: _before, ...before }) => (isOn ? { ...before, enabled: false } : before))}
        >
          {isOn ? 'Switch off' : 'Switch on'}
        </Button>
        <Button kind="danger" off={draft.off} onPress={remove}>
          Remove the rule
        </Button>
      </div>
      {draft.resource?.body.rules?.[name] !== undefined && (
        <RuleWaiting workspace={w} title={`${n}.${name}`} stream={props.stream?.slice(w.length + 1)} />
      )}
      <div className={cls(styles.grid)}>
        <div className={cls(styles.column)}>
          <Conditions {...props} />
          <Recipients {...props} />
          <Suspense fallback={null}>
            <EventStream {...props} />
          </Suspense>
        </div>
        <div className={cls(styles.column)}>
          <Bench {...props} onRunner={setRunner} />
        </div>
      </div>
    </>
  );
}

/** Tries the rule: on one event, or on a timeline if it looks at several. */
function Bench(props: RuleProps & { readonly onRunner: (run: () => void) => void }): ReactNode {
  const { draft, rule } = props;
  const { hasChanges } = useOrigin(draft.workspace, rule.stream);
  // A change brings the row before.
  const isTimeline = looksBack(rule) || (!hasChanges && rule.stream !== undefined && readsPrevious(textOf(rule.when)));
  if (!isTimeline) return <TestBench {...props} />;
  return (
    <Suspense fallback={null}>
      <TimelineBench {...props} />
    </Suspense>
  );
}
