import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { PageBody, PageHead, Rows } from '../../ui/page.tsx';
import { draftsQuery } from '../drafts/queries.ts';
import { NewSetup } from '../setup/new-setup.tsx';
import { SetupRow } from '../setup/setup-list.tsx';
import { isQuiet, kindOf, NEW_INTEGRATIONS } from './integration-kinds.ts';
import { integrationsQuery } from './queries.ts';

/** Who tells of people: partners that are asked, and platforms that tell who is in a cohort. */
export function Integrations(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/integrations' });
  const isOne = w !== EVERY_WORKSPACE;
  const { data, error, refetch } = useQuery(integrationsQuery(w));
  const { data: drafts } = useQuery({ ...draftsQuery(w), enabled: isOne });
  const [isAdding, setAdding] = useState(false);
  const [asksAll, setAsksAll] = useState(false);
  const off = useMay('configure', w);
  const navigate = useNavigate();
  const facts = new Map(
    (drafts?.items ?? []).filter(({ kind }) => kind === 'integration').map((draft) => [draft.name, draft]),
  );
  const names = new Set(data?.items.map(({ name }) => name));
  const unborn = [...facts.values()].filter(({ name, action }) => action === 'create' && !names.has(name));
  const isEmpty = data !== undefined && data.items.length + unborn.length === 0;
  const add = isOne && (
    <Button kind="main" off={off} onPress={() => setAdding(true)}>
      Add an integration
    </Button>
  );
  return (
    <>
      <PageHead
        title="Integrations"
        lead="Partners that are asked who somebody is, and platforms that tell who is in a cohort."
      >
        {!isEmpty && data && <Button onPress={() => setAsksAll(true)}>Check all</Button>}
        {!isEmpty && add}
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="integrations" />}
        {isEmpty && (
          <Empty title="No integration yet" action={add}>
            A lookup endpoint answers, for user ids, who they are and how they are reached. An analytics platform tells
            who enters and leaves a cohort. Events that name their people themselves need neither.
          </Empty>
        )}
        {data && !isEmpty && (
          <Rows label="Integrations">
            {unborn.map((draft) => (
              <SetupRow
                key={`draft ${draft.name}`}
                kind="integrations"
                workspace={w}
                name={draft.name}
                words="Its draft says what it will be"
                isPublished={false}
                draft={draft}
                asks={asksAll}
              />
            ))}
            {data.items.map(({ workspace, name, body }) => (
              <SetupRow
                key={`${workspace}/${name}`}
                kind="integrations"
                workspace={workspace}
                name={name}
                words={kindOf(body)?.name ?? body.kind}
                isPublished
                draft={facts.get(name)}
                asks={asksAll || isQuiet(body.kind)}
              />
            ))}
          </Rows>
        )}
      </PageBody>
      {isAdding && (
        <NewSetup
          title="Add an integration"
          workspace={w}
          kind="integrations"
          kinds={NEW_INTEGRATIONS}
          taken={[...names, ...facts.keys()]}
          onMade={(name) => void navigate({ to: '/workspaces/$w/integrations/$i', params: { w, i: name } })}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  );
}
