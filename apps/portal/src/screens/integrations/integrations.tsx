import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { PageBody, PageHead } from '../../ui/page.tsx';
import { NewSetup } from '../setup/new-setup.tsx';
import { SetupRows, useSetupDrafts } from '../setup/setup-list.tsx';
import { TroubledSources } from '../sources/troubled-sources.tsx';
import { integrationKindOf, isQuiet, NEW_INTEGRATIONS } from './integration-kinds.ts';
import { integrationsQuery } from './queries.ts';
import { SilentPartners } from './waiting.tsx';

/** The integrations of a workspace: databases, partners and analytics platforms, and those that need attention. */
export function Integrations(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/integrations' });
  const isOne = w !== EVERY_WORKSPACE;
  const { data, error, refetch } = useQuery(integrationsQuery(w));
  const [isAdding, setAdding] = useState(false);
  const [asksAll, setAsksAll] = useState(false);
  const off = useMay('configure', w);
  const navigate = useNavigate();
  const { drafts, unborn, taken } = useSetupDrafts('integrations', w, data?.items.map(({ name }) => name) ?? []);
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
        lead="Databases and Kafka topics that Carillon reads, partners that Carillon asks for people, and platforms that report cohorts."
      >
        {!isEmpty && data && <Button onPress={() => setAsksAll(true)}>Check all</Button>}
        {!isEmpty && add}
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="integrations" />}
        {isEmpty && (
          <Empty title="No integrations yet" action={add}>
            A database gives an event for each row that is created, updated or deleted, a Kafka topic one for each
            record. A lookup endpoint answers user ids with names and addresses. An analytics platform reports who
            enters and leaves a cohort. If your own events name their people, you need none of them.
          </Empty>
        )}
        <SilentPartners workspace={w} />
        <TroubledSources workspace={w} />
        {data && !isEmpty && (
          <SetupRows
            kind="integrations"
            label="Integrations"
            workspace={w}
            items={data.items.map(({ workspace, name, body }) => ({
              workspace,
              name,
              words: integrationKindOf(body)?.title ?? body.kind,
              asks: asksAll || isQuiet(body),
            }))}
            drafts={drafts}
            unborn={unborn}
            asks={asksAll}
          />
        )}
      </PageBody>
      {isAdding && (
        <NewSetup
          title="Add an integration"
          workspace={w}
          kind="integrations"
          kinds={NEW_INTEGRATIONS}
          taken={taken}
          onMade={(name) => void navigate({ to: '/workspaces/$w/integrations/$i', params: { w, i: name } })}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  );
}
