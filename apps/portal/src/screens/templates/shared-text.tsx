import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useDraft, type EditedDraft } from '../../api/use-draft.ts';
import { FaultScope } from '../../ui/held-fault.tsx';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Card, PageHead, Quiet } from '../../ui/page.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { Preview } from './preview.tsx';
import { templatesQuery, wordOf } from './queries.ts';
import { useCompletion } from './use-completion.ts';
import { useEvent, type ChosenEvent } from './use-event.ts';
import { templatesWith } from './users.ts';
import { useWithDrafts, type Resourceful } from './with-drafts.ts';
import styles from './templates.module.css';

/** What stands around the body of emails. */
export function Layout(): ReactNode {
  const { w, t } = useParams({ from: '/workspaces/$w/layouts/$t' });
  const draft = useDraft('layouts', w, t);
  return (
    <SharedText
      draft={draft}
      parts={['html', 'mjml', 'text'].filter((part) => part in (draft.body ?? {}))}
      what="layout"
    />
  );
}

/** What templates put in by its name. */
export function Partial(): ReactNode {
  const { w, t } = useParams({ from: '/workspaces/$w/partials/$t' });
  return <SharedText draft={useDraft('partials', w, t)} parts={['text']} what="partial" />;
}

const textIn = (body: object, part: string): string => {
  const value = (body as Readonly<Record<string, unknown>>)[part];
  return typeof value === 'string' ? value : '';
};
const NONE: readonly Resourceful[] = [];
const unheard = (): void => undefined;
const LABELS: Readonly<Record<string, string>> = { html: 'HTML', mjml: 'MJML', text: 'Text' };

function SharedText({
  draft,
  parts,
  what,
}: {
  readonly draft: EditedDraft<'layouts'> | EditedDraft<'partials'>;
  readonly parts: readonly string[];
  readonly what: 'layout' | 'partial';
}): ReactNode {
  const { workspace, name, body } = draft;
  const { data } = useQuery(templatesQuery(workspace));
  const users = templatesWith(useWithDrafts(workspace, 'template', data?.items ?? NONE), draft.kind, name);
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = chosen ?? users[0] ?? null;
  const event = useEvent(workspace, shown ?? '');
  const { complete, variables } = useCompletion(workspace, shown ?? '', event.fields);
  const all = (
    <Link key="all" to="/workspaces/$w/templates" params={{ w: workspace }}>
      Templates
    </Link>
  );
  const change = (part: string, text: string): void => {
    if (draft.kind === 'layouts') draft.change((before) => ({ ...before, [part]: text }));
    else draft.change((before) => ({ ...before, [part]: text }));
  };
  return (
    <>
      <PageHead
        title={name}
        crumbs={[all, name]}
        lead={
          what === 'layout'
            ? 'A layout. The body of an email replaces {{{body}}}.'
            : `A partial. Templates insert it with {{> ${name}}}.`
        }
      >
        <DraftActions draft={draft} />
      </PageHead>
      {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
      {draft.isLoading && <Loading what={`the ${what}`} />}
      <DraftNotices draft={draft} />
      {!draft.isLoading && !draft.error && body === null && (
        <Empty title={draft.resource === null ? `There is no ${what} ${name}` : 'The draft removes it'} action={all} />
      )}
      {body !== null && (
        <FaultScope draft={draft}>
          <div className={cls(styles.sides)}>
            <Card title="Text">
              {parts.map((part) => (
                <CodeField
                  key={part}
                  label={LABELS[part] ?? part}
                  language={part === 'text' && what === 'layout' ? 'text' : 'html'}
                  minLines={16}
                  value={textIn(body, part)}
                  onChange={(text) => change(part, text)}
                  complete={complete}
                  variables={variables}
                  faults={draft
                    .faultsAt(part)
                    .map(({ line, column, message, fix }) => ({ line: line ?? 1, column: column ?? 1, message, fix }))}
                />
              ))}
            </Card>
            <InUse draft={draft} users={users} shown={shown} onShow={setChosen} event={event} />
          </div>
        </FaultScope>
      )}
    </>
  );
}

/** A template that puts it in, as its reader gets it with the draft. */
function InUse({
  draft,
  users,
  shown,
  onShow,
  event,
}: {
  readonly draft: EditedDraft<'layouts'> | EditedDraft<'partials'>;
  readonly users: readonly string[];
  readonly shown: string | null;
  readonly onShow: (template: string) => void;
  readonly event: ChosenEvent;
}): ReactNode {
  const { workspace, kind, body, saving } = draft;
  return (
    <Card title="Preview in a template">
      {shown === null ? (
        <Quiet>
          {kind === 'layouts'
            ? 'No template uses this layout yet. Choose it in the field Layout of a template.'
            : 'No template uses this partial yet.'}
        </Quiet>
      ) : (
        <>
          <NativeSelect
            label="Template"
            options={users.map((id) => ({ id, name: id }))}
            value={shown}
            onChange={onShow}
          />
          <Preview
            asked={{
              workspace,
              name: shown,
              channel: 'email',
              locale: '',
              event: event.text,
              drafts: true,
              of: wordOf(JSON.stringify(body)),
            }}
            isReady={saving === 'saved' && event.isKnown}
            hasFaults={draft.faults.length > 0}
            onMessage={unheard}
          />
        </>
      )}
    </Card>
  );
}
