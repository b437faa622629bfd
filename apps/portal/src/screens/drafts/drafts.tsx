import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { discardUndoably, DRAFTS, segmentOf } from '../../api/draft-calls.ts';
import { reachStep } from '../../api/first-steps.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { reloadConfiguration, reloadDrafts, tryPublishing } from '../../api/use-draft.ts';
import { FaultList, PlaceLink } from '../../faults/fault-list.tsx';
import { placeOf } from '../../faults/fault-place.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, Card, PageBody, PageHead, Quiet, Rows } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { PromoteLink } from '../promote/promote-link.tsx';
import { actionWords, counted, titleOf } from './change-words.ts';
import { ConflictCard } from './conflict.tsx';
import { discardingCall } from './draft-call.ts';
import { ReviewedDraft } from './reviewed-draft.tsx';
import { changesOf, filesOf } from './plan-parts.ts';
import { draftsQuery, planQuery, type DraftFacts, type DraftsPlan } from './queries.ts';
import { publishSavings, undoOf } from './undo-publishing.ts';
import styles from './drafts.module.css';

const CompareCard = lazyPart(() => import('../runs/compare-card.tsx').then(({ CompareCard: loaded }) => loaded));

const FROM = '/workspaces/$w/drafts';
const keyOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string => `${kind} ${name}`;

/** Shows the changes of a publication before it happens, by field and by file. */
export function Drafts(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { data, error, refetch } = useQuery(draftsQuery(w));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [published, setPublished] = useState<readonly DraftFacts[]>([]);
  const drafts = data?.items ?? [];
  const chosen = drafts.filter((draft) => !left.has(keyOf(draft)));
  const plan = useQuery(planQuery(w, chosen));
  const isAsked = plan.data !== undefined;
  useEffect(() => {
    if (isAsked && data) tryPublishing(data.items);
  }, [isAsked, data]);
  const shown = chosen.length === 0 ? undefined : plan.data;
  const choose = (draft: DraftFacts, isChosen: boolean): void => {
    const next = new Set(left);
    if (isChosen) next.delete(keyOf(draft));
    else next.add(keyOf(draft));
    setLeft(next);
  };
  const fields = shown?.changes.reduce((sum, change) => sum + Math.max(1, change.fields.length), 0) ?? 0;
  return (
    <>
      <PageHead
        title="Review and publish"
        lead={
          drafts.length === 0 ? (
            'Drafts change nothing until you publish them, all at the same moment.'
          ) : (
            <>
              {counted(drafts.length, 'draft')} in {w}
              {shown &&
                shown.faults.length === 0 &&
                `, ${counted(fields, 'change')} to ${counted(shown.files.length, 'file')}`}
              . They change nothing until you publish them.
            </>
          )
        }
      >
        <PromoteLink workspace={w} />
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="drafts" />}
        {data && drafts.length === 0 && (
          <Empty
            title="No drafts to publish"
            action={
              published.length > 0 ? (
                <PublishedLinks drafts={published} />
              ) : (
                <Link to="/workspaces/$w/notifications" params={{ w }}>
                  Go to the notifications
                </Link>
              )
            }
          >
            Unpublished changes of this workspace appear here, yours and those of other people.
          </Empty>
        )}
        {plan.error && <Problem error={plan.error} onRetry={() => void plan.refetch()} />}
        {shown?.conflicts.map((conflict) => (
          <ConflictCard
            key={`${keyOf(conflict)} ${conflict.revision}`}
            conflict={conflict}
            files={filesOf(shown, conflict)}
          />
        ))}
        {drafts.length > 0 && (
          <Rows label="Drafts">
            {drafts.map((draft) => (
              <DraftRow
                key={keyOf(draft)}
                draft={draft}
                plan={shown}
                isChosen={!left.has(keyOf(draft))}
                onChoose={(isChosen) => choose(draft, isChosen)}
              />
            ))}
          </Rows>
        )}
        {shown && <Beside plan={shown} drafts={drafts} />}
        {drafts.length > 0 && (
          <Part loading={<Loading what="the comparison" rows={1} />}>
            <CompareCard workspace={w} drafts={drafts} />
          </Part>
        )}
        {drafts.length > 0 && (
          <Publish
            workspace={w}
            plan={shown}
            chosen={chosen}
            isOld={plan.isPlaceholderData}
            onPublished={() => setPublished(chosen)}
          />
        )}
      </PageBody>
    </>
  );
}

/** Links to the resources that were published a moment ago. */
function PublishedLinks({ drafts }: { readonly drafts: readonly DraftFacts[] }): ReactNode {
  return (
    <ul aria-label="Published">
      {drafts
        .filter(({ action }) => action !== 'delete')
        .map((draft) => {
          const place = placeOf({ ...draft, path: '' });
          return <li key={keyOf(draft)}>{place && <PlaceLink place={{ ...place, label: titleOf(draft) }} />}</li>;
        })}
    </ul>
  );
}

function DraftRow({
  draft,
  plan,
  isChosen,
  onChoose,
}: {
  readonly draft: DraftFacts;
  readonly plan: DraftsPlan | undefined;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}): ReactNode {
  const isOwn = (one: { readonly kind: string; readonly name: string }): boolean => keyOf(one) === keyOf(draft);
  const address = { kind: segmentOf(draft.kind), workspace: draft.workspace, name: draft.name };
  const isOld = (): void => reloadDrafts(draft.workspace);
  const discard = useMutation({
    mutationFn: () => discardUndoably(address, draft.revision),
    onSuccess: (putBack) => say(`The draft of ${titleOf(draft)} is discarded.`, putBack && undoing(putBack, isOld)),
    onSettled: isOld,
  });
  const off = useMay('configure', draft.workspace);
  const faults = (plan?.faults ?? []).filter(isOwn);
  const warnings = (plan?.warnings ?? []).filter(isOwn);
  const place = placeOf({ ...draft, path: onlyCadence(plan, draft) ? 'cadence' : '' });
  return (
    <li className={cls(styles.draft)}>
      <div className={cls(styles.headline)}>
        <label className={cls(styles.choose)}>
          <input type="checkbox" checked={isChosen} onChange={(event) => onChoose(event.target.checked)} />
          {titleOf(draft)}
        </label>
        <DraftLamp draft={draft} faults={faults.length} warnings={warnings.length} />
        {place && <PlaceLink place={{ ...place, label: 'Open' }} />}
        <Button kind="quiet" off={off} isDisabled={discard.isPending} onPress={() => discard.mutate()}>
          Discard
        </Button>
      </div>
      <Quiet>
        {actionWords(draft.action)} by {draft.by.name ?? draft.by.id} · <Time at={draft.at} />
        {draft.promoted_from !== null && ` · from ${draft.promoted_from}`}
      </Quiet>
      {discard.error && <Problem error={discard.error} />}
      <FaultList faults={faults} />
      <FaultList faults={warnings} label="Warnings" tone="warning" />
      <ReviewedDraft draft={draft} plan={plan} />
      <Curl call={discardingCall(address, draft.revision)} />
    </li>
  );
}

/** The settings of a workspace are edited on two pages, of which one has its cadence. */
const onlyCadence = (plan: DraftsPlan | undefined, draft: DraftFacts): boolean => {
  const paths = changesOf(plan, draft).flatMap(({ fields }) => fields.map(({ path }) => path));
  return draft.kind === 'workspace' && paths.length > 0 && paths.every((path) => path.startsWith('cadence'));
};

function DraftLamp({
  draft,
  faults,
  warnings,
}: {
  readonly draft: DraftFacts;
  readonly faults: number;
  readonly warnings: number;
}): ReactNode {
  if (draft.state === 'conflict') return <Lamp tone="held">In conflict</Lamp>;
  if (faults > 0) return <Lamp tone="bad">{counted(faults, 'mistake')}</Lamp>;
  if (draft.state === 'published') return <Lamp tone="none">No change</Lamp>;
  if (draft.action === 'delete') return <Lamp tone="bad">Will be removed</Lamp>;
  return warnings > 0 ? <Lamp tone="held">Ready, {counted(warnings, 'warning')}</Lamp> : <Lamp tone="good">Ready</Lamp>;
}

/** What else changes, or is wrong, in resources that have no draft of their own: a template is compiled again with its layout. */
function Beside({ plan, drafts }: { readonly plan: DraftsPlan; readonly drafts: readonly DraftFacts[] }): ReactNode {
  const own = new Set(drafts.map(keyOf));
  const faults = plan.faults.filter((fault) => !own.has(keyOf(fault)));
  const changes = plan.changes.filter((change) => !drafts.some((draft) => changesOf(plan, draft).includes(change)));
  if (faults.length === 0 && changes.length === 0) return null;
  return (
    <Card title="Effects on other resources">
      <FaultList faults={faults} label="Mistakes in other resources" isTitled />
      {changes.map(({ resource, action, note }) => (
        <p key={resource}>
          {resource}: {actionWords(action)} with them{note !== null && ` (${note})`}
        </p>
      ))}
    </Card>
  );
}

function Publish({
  workspace,
  plan,
  chosen,
  isOld,
  onPublished,
}: {
  readonly workspace: string;
  readonly plan: DraftsPlan | undefined;
  readonly chosen: readonly DraftFacts[];
  readonly isOld: boolean;
  readonly onPublished: () => void;
}): ReactNode {
  const [message, setMessage] = useState('');
  const navigate = useNavigate();
  const body = {
    drafts: chosen.map(({ kind, name, revision }) => ({ kind, name, revision })),
    ...(message.trim() !== '' && { message: message.trim() }),
  };
  const publish = useMutation({
    async mutationFn() {
      const undo = await undoOf(workspace, chosen);
      const number = await publishSavings(workspace, chosen, message.trim());
      return { number, undo: number === null ? null : undo(number) };
    },
    onSuccess({ number, undo }) {
      if (chosen.some(({ kind }) => kind === 'notification')) reachStep(workspace, 'notification');
      say(
        number === null ? 'The drafts changed nothing.' : `Published as configuration ${number}.`,
        undo && undoing(undo, () => reloadConfiguration(workspace)),
      );
      onPublished();
      const [only] = chosen;
      if (chosen.length === 1 && only?.kind === 'notification' && only.action !== 'delete') {
        void navigate({ to: '/workspaces/$w/notifications/$n', params: { w: workspace, n: only.name } });
      }
    },
    // Its drafts are all there still: what is in their way now, the plan says.
    onError: () => void queryClient.invalidateQueries({ queryKey: [DRAFTS, workspace, 'plan'] }),
    onSettled: () => reloadConfiguration(workspace),
  });
  const off = useMay('configure', workspace);
  const why = whyNot(plan, chosen);
  return (
    <Card title="Publish">
      <div className={cls(styles.publish)}>
        <Field
          label="Description"
          note="Optional, one line for the history."
          maxLength={500}
          value={message}
          onChange={setMessage}
        />
        {publish.error && <Problem error={publish.error} />}
        <Actions>
          <Button
            kind="main"
            off={off}
            isDisabled={why !== null || isOld || publish.isPending}
            onPress={() => publish.mutate()}
            {...(why !== null && { 'aria-describedby': 'why-not-published' })}
          >
            Publish {counted(chosen.length, 'change')}
          </Button>
          {why !== null && <span id="why-not-published">{why}</span>}
        </Actions>
        <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/drafts/publish`, body }} />
      </div>
    </Card>
  );
}

/** Why these cannot be published now; null: they can. */
function whyNot(plan: DraftsPlan | undefined, chosen: readonly DraftFacts[]): string | null {
  if (chosen.length === 0) return 'Choose at least one draft.';
  if (!plan) return 'Wait for the check.';
  if (plan.conflicts.length > 0) return 'Resolve the conflict above first.';
  if (plan.faults.length > 0) return `Fix ${counted(plan.faults.length, 'mistake')} first.`;
  return null;
}
