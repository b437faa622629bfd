import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useDraft, type EditedDraft } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Card, PageHead, Quiet } from '../../ui/page.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { Preview } from './preview.tsx';
import { templatesQuery, wordOf } from './queries.ts';
import { useEvent } from './use-event.ts';
import { templatesWith } from './users.ts';
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
            ? 'A layout: the body of an email comes in at {{{body}}}.'
            : `A partial: templates put it in by {{> ${name}}}.`
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
                faults={draft
                  .faultsAt(part)
                  .map(({ line, column, message, fix }) => ({ line: line ?? 1, column: column ?? 1, message, fix }))}
              />
            ))}
          </Card>
          <InUse draft={draft} />
        </div>
      )}
    </>
  );
}

/** A template that puts it in, as its reader gets it with the draft. */
function InUse({ draft }: { readonly draft: EditedDraft<'layouts'> | EditedDraft<'partials'> }): ReactNode {
  const { workspace, name, kind, body, hasDraft, saving } = draft;
  const { data } = useQuery(templatesQuery(workspace));
  const users = templatesWith(data?.items ?? [], kind, name);
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = chosen ?? users[0] ?? null;
  const event = useEvent(workspace, shown ?? '');
  return (
    <Card title="In a template">
      {shown === null ? (
        <Quiet>No published template puts it in yet.</Quiet>
      ) : (
        <>
          <NativeSelect
            label="Template"
            options={users.map((id) => ({ id, name: id }))}
            value={shown}
            onChange={setChosen}
          />
          <Preview
            asked={{
              workspace,
              name: shown,
              channel: 'email',
              locale: '',
              event: event.text,
              drafts: hasDraft,
              of: wordOf(JSON.stringify(body)),
            }}
            asks={saving === 'saved'}
            onMessage={unheard}
          />
        </>
      )}
    </Card>
  );
}
