import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { say } from '../../ui/notices.ts';
import { Actions, Card, PageBody, PageHead, Quiet } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { counted } from '../drafts/change-words.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import { copyQuery, copyResources } from './queries.ts';
import { InTheWay, Missing, TransferRows, useChosenDrafts } from './transfer-parts.tsx';
import { copyTitle, useTestEnvironment } from './use-test-environment.ts';
import styles from './promote.module.css';

/** Fills a test environment from its live workspace, or brings it up to date. */
export function Copy(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/copy' });
  const { live, isEmpty, isSandboxed, isLoading, error, retry } = useTestEnvironment(w);
  return (
    <>
      <PageHead
        title={live === null ? 'Copy a live workspace' : copyTitle(live, isEmpty)}
        lead={live === null ? undefined : `Makes drafts in ${w}. They change nothing until you publish them there.`}
      />
      <PageBody>
        {error && <Problem error={error} onRetry={retry} />}
        {isLoading && <Loading what="environments" />}
        {!isLoading && !error && live === null && (
          <Empty title={`${w} is no test environment`} action={<Link to="/workspaces">All workspaces</Link>}>
            Only a test environment can start as a copy of its live workspace.
          </Empty>
        )}
        {live !== null && <CopyFrom key={w} workspace={w} live={live} isSandboxed={isSandboxed} />}
      </PageBody>
    </>
  );
}

const EXTENTS = [
  { id: 'all', name: 'Everything', note: 'All notifications, templates, layouts, partials and streams that differ.' },
  { id: 'chosen', name: 'Chosen notifications', note: 'With the templates and streams that they need.' },
] as const;

function CopyFrom({
  workspace,
  live,
  isSandboxed,
}: {
  readonly workspace: string;
  readonly live: string;
  readonly isSandboxed: boolean;
}): ReactNode {
  const off = useMay('configure', workspace);
  const [extent, setExtent] = useState<'all' | 'chosen'>('all');
  const [picked, setPicked] = useState<readonly string[]>([]);
  const names = extent === 'all' ? null : picked;
  const isAsked = off === null && names?.length !== 0;
  const { data, error, refetch, isFetching } = useQuery({ ...copyQuery(workspace, names), enabled: isAsked });
  if (off !== null) return <p>{off}</p>;
  return (
    <>
      <Card title="Contents of the copy">
        <RadioGroup label="Extent" options={EXTENTS} chosen={extent} onChoose={setExtent} />
        {extent === 'chosen' && <PickNotifications live={live} picked={picked} onPick={setPicked} />}
      </Card>
      {isAsked && error && <Problem error={error} onRetry={() => void refetch()} />}
      {isAsked && !data && !error && <Loading what="what would be copied" />}
      {isAsked && data && !error && (
        <Differences
          workspace={workspace}
          live={live}
          copy={isSandboxed ? { ...data, missing: data.missing.filter(({ kind }) => kind !== 'account') } : data}
          isFetching={isFetching}
        />
      )}
    </>
  );
}

function PickNotifications({
  live,
  picked,
  onPick,
}: {
  readonly live: string;
  readonly picked: readonly string[];
  readonly onPick: (picked: readonly string[]) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(notificationsQuery(live));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="notifications" rows={2} />;
  if (data.items.length === 0) return <p>{live} has no notification.</p>;
  return (
    <fieldset className={cls(styles.pick)}>
      <legend>Notifications of {live}</legend>
      {data.items.map(({ name, body }) => (
        <Checkbox
          key={name}
          isOn={picked.includes(name)}
          onChange={(isOn) => onPick(isOn ? [...picked, name] : picked.filter((other) => other !== name))}
        >
          {body.name ?? name}
        </Checkbox>
      ))}
    </fieldset>
  );
}

function Differences({
  workspace,
  live,
  copy,
  isFetching,
}: {
  readonly workspace: string;
  readonly live: string;
  readonly copy: Awaited<ReturnType<typeof copyResources>>;
  readonly isFetching: boolean;
}): ReactNode {
  const { chosen, isChosen, toggle } = useChosenDrafts(copy.drafts);
  const navigate = useNavigate();
  const resources = chosen.map(({ kind, name }) => ({ kind, name }));
  const make = useMutation({
    mutationFn: () => copyResources(workspace, resources),
    onSuccess: async ({ drafts }) => {
      await navigate({ to: '/workspaces/$w/drafts', params: { w: workspace } });
      say(`${counted(drafts.length, 'draft')} copied from ${live}. Publish to use them in ${workspace}.`);
    },
    onSettled: () => reloadDrafts(workspace),
  });
  if (copy.drafts.length === 0 && copy.in_the_way.length === 0) {
    return (
      <Empty
        title="Nothing to copy"
        action={
          <Link to="/workspaces/$w/notifications" params={{ w: workspace }}>
            Go to the notifications
          </Link>
        }
      >
        {workspace} already has what you chose of {live}, or drafts of it.
      </Empty>
    );
  }
  return (
    <>
      <Missing to={workspace} missing={copy.missing} />
      <InTheWay to={workspace} drafts={copy.in_the_way} />
      {copy.drafts.length > 0 && (
        <>
          <TransferRows
            label="What would be copied"
            to={workspace}
            transfer={copy}
            isChosen={isChosen}
            onToggle={toggle}
          />
          {make.error && <Problem error={make.error} />}
          <Actions>
            <Button
              kind="main"
              isDisabled={chosen.length === 0 || make.isPending || isFetching}
              onPress={() => make.mutate()}
            >
              Make {counted(chosen.length, 'draft')} in {workspace}
            </Button>
            <Quiet>API keys, secrets, accounts and people are never copied.</Quiet>
          </Actions>
          <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/copy`, body: { resources } }} />
        </>
      )}
    </>
  );
}
