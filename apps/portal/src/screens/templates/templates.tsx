import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Actions, PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { draftsQuery, type DraftFacts } from '../drafts/queries.ts';
import { NewSetup } from '../setup/new-setup.tsx';
import { layoutsQuery, partialsQuery, templatesQuery } from './queries.ts';
import { CHANNEL_NAMES, channelsIn, NEW_LAYOUTS, NEW_PARTIALS, NEW_TEMPLATES } from './template-parts.ts';

type Kind = 'templates' | 'layouts' | 'partials';
const KINDS = { templates: 'template', layouts: 'layout', partials: 'partial' } as const;
const WAYS = {
  templates: '/workspaces/$w/templates/$t',
  layouts: '/workspaces/$w/layouts/$t',
  partials: '/workspaces/$w/partials/$t',
} as const;

/** What messages say: templates, and the layouts and partials that they share. */
export function Templates(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/templates' });
  const isOne = w !== EVERY_WORKSPACE;
  const templates = useQuery(templatesQuery(w));
  const layouts = useQuery(layoutsQuery(w));
  const partials = useQuery(partialsQuery(w));
  const { data: drafts } = useQuery({ ...draftsQuery(w), enabled: isOne });
  const error = templates.error ?? layouts.error ?? partials.error;
  const [adding, setAdding] = useState<Kind | null>(null);
  const off = useMay('configure', w);
  const navigate = useNavigate();
  const factsOf = (kind: Kind): ReadonlyMap<string, DraftFacts> =>
    new Map((drafts?.items ?? []).filter((one) => one.kind === KINDS[kind]).map((one) => [one.name, one]));
  const lists = { templates: templates.data, layouts: layouts.data, partials: partials.data };
  const takenOf = (kind: Kind): readonly string[] => [
    ...(lists[kind]?.items ?? []).map(({ name }) => name),
    ...factsOf(kind).keys(),
  ];
  const made = (kind: Kind) => (name: string) => void navigate({ to: WAYS[kind], params: { w, t: name } });
  const shared = { workspace: w, onClose: () => setAdding(null) };
  return (
    <>
      <PageHead title="Templates" lead="Texts of messages, for each channel and language.">
        {isOne && (
          <>
            <Button off={off} onPress={() => setAdding('layouts')}>
              New layout
            </Button>
            <Button off={off} onPress={() => setAdding('partials')}>
              New partial
            </Button>
            <Button kind="main" off={off} onPress={() => setAdding('templates')}>
              New template
            </Button>
          </>
        )}
      </PageHead>
      <PageBody>
        {error && (
          <Problem
            error={error}
            onRetry={() => void Promise.all([templates.refetch(), layouts.refetch(), partials.refetch()])}
          />
        )}
        {!templates.data && !error && <Loading what="templates" />}
        {templates.data && takenOf('templates').length === 0 && (
          <Empty title="No templates yet">
            A template has the subject and body of an email, the text of an SMS and the text of a push notification.
            Start with a simple example, or paste your HTML or MJML.
          </Empty>
        )}
        <IncludeList
          workspace={w}
          kind="templates"
          title={null}
          items={lists.templates?.items}
          facts={factsOf('templates')}
        />
        <IncludeList
          workspace={w}
          kind="layouts"
          title="Layouts"
          items={lists.layouts?.items}
          facts={factsOf('layouts')}
        />
        <IncludeList
          workspace={w}
          kind="partials"
          title="Partials"
          items={lists.partials?.items}
          facts={factsOf('partials')}
        />
      </PageBody>
      {adding === 'templates' && (
        <NewSetup
          {...shared}
          title="New template"
          kind="templates"
          kinds={NEW_TEMPLATES}
          taken={takenOf('templates')}
          onMade={made('templates')}
        />
      )}
      {adding === 'layouts' && (
        <NewSetup
          {...shared}
          title="New layout"
          kind="layouts"
          kinds={NEW_LAYOUTS}
          taken={takenOf('layouts')}
          onMade={made('layouts')}
        />
      )}
      {adding === 'partials' && (
        <NewSetup
          {...shared}
          title="New partial"
          kind="partials"
          kinds={NEW_PARTIALS}
          taken={takenOf('partials')}
          onMade={made('partials')}
        />
      )}
    </>
  );
}

type Item = { readonly workspace: string; readonly name: string; readonly body: unknown };

function IncludeList({
  workspace,
  kind,
  title,
  items,
  facts,
}: {
  readonly workspace: string;
  readonly kind: Kind;
  readonly title: string | null;
  readonly items: readonly Item[] | undefined;
  readonly facts: ReadonlyMap<string, DraftFacts>;
}): ReactNode {
  const names = new Set(items?.map(({ name }) => name));
  const unborn: readonly Item[] = [...facts.values()]
    .filter(({ name, action }) => action === 'create' && !names.has(name))
    .map(({ name }) => ({ workspace, name, body: null }));
  const all = [...unborn, ...(items ?? [])];
  if (all.length === 0) return null;
  const Heading = title === null ? 'h2' : 'h3';
  return (
    <>
      {title !== null && <h2>{title}</h2>}
      <Rows label={title ?? 'Templates'}>
        {all.map((item) => (
          <Row key={`${item.workspace}/${item.name}`}>
            <span>
              <Heading>
                <Link to={WAYS[kind]} params={{ w: item.workspace, t: item.name }}>
                  {item.name}
                </Link>
              </Heading>
              {kind === 'templates' && item.body !== null && (
                <Quiet>
                  {channelsIn(item.body)
                    .map((channel) => CHANNEL_NAMES[channel])
                    .join(', ')}
                </Quiet>
              )}
            </span>
            <Actions>
              {facts.has(item.name) && (
                <Lamp tone="held">{names.has(item.name) ? 'Draft' : 'New, not published yet'}</Lamp>
              )}
            </Actions>
          </Row>
        ))}
      </Rows>
    </>
  );
}
