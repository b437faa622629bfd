import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense, useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { useDraft, type EditedDraft } from '../../api/use-draft.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { FaultScope } from '../../ui/held-fault.tsx';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { Card, PageHead } from '../../ui/page.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { lazyPart } from '../../ui/part.tsx';
import { Segments } from '../../ui/segments.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { useEditorKeys } from '../drafts/use-editor-keys.ts';
import { besideOf, Languages, type TemplateSearch } from './languages.tsx';
import { isAtField, PartFields } from './part-fields.tsx';
import { wordOf, workspaceQuery, type Previewed } from './queries.ts';
import { BASE, CHANNEL_NAMES, CHANNELS, channelsIn, localesIn, withChannel, type Channel } from './template-parts.ts';
import { useCompletion } from './use-completion.ts';
import { useEvent } from './use-event.ts';
import { useMissing } from './use-missing.tsx';
import { Variables } from './variables.tsx';
import styles from './templates.module.css';

/** Loaded after the editor: the preview waits for the event anyway. */
const Preview = lazyPart(async () => (await import('./preview.tsx')).Preview);
const SendTest = lazyPart(async () => (await import('./send-test.tsx')).SendTest);

const UNPUBLISHED = 'Publish the template first, because a test sends the published version.';

/** One template: its parts on the left, and on the right what a reader gets of them. */
export function Template(): ReactNode {
  const { w, t } = useParams({ from: '/workspaces/$w/templates/$t' });
  const draft = useDraft('templates', w, t);
  const [isTesting, setTesting] = useState(false);
  const off = useMay('configure', w);
  const all = (
    <Link key="all" to="/workspaces/$w/templates" params={{ w }}>
      Templates
    </Link>
  );
  return (
    <>
      <PageHead title={t} crumbs={[all, t]}>
        {draft.body !== null && (
          <Button off={off ?? (draft.resource === null ? UNPUBLISHED : null)} onPress={() => setTesting(true)}>
            Send me a test
          </Button>
        )}
        <DraftActions draft={draft} />
      </PageHead>
      {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
      {draft.isLoading && <Loading what="the template" />}
      <DraftNotices draft={draft} />
      {!draft.isLoading && !draft.error && draft.body === null && (
        <Empty title={draft.resource === null ? `There is no template ${t}` : 'The draft removes it'} action={all}>
          {draft.resource === null
            ? 'It was removed, or it has another name now.'
            : 'Messages use the template until you publish its removal.'}
        </Empty>
      )}
      {draft.body !== null && (
        <FaultScope draft={draft}>
          <Editor draft={draft} isTesting={isTesting} onTested={() => setTesting(false)} />
        </FaultScope>
      )}
    </>
  );
}

function Editor({
  draft,
  isTesting,
  onTested,
}: {
  readonly draft: EditedDraft<'templates'>;
  readonly isTesting: boolean;
  readonly onTested: () => void;
}): ReactNode {
  const { workspace, name, body, hasDraft, saving } = draft;
  const search = useSearch({ from: '/workspaces/$w/templates/$t' });
  const navigate = useNavigate({ from: '/workspaces/$w/templates/$t' });
  // The preview follows what is saved.
  useEditorKeys(draft, () => void draft.saveNow());
  const channels = channelsIn(body);
  const channel: Channel = channels.find((one) => one === search.channel) ?? channels[0] ?? 'email';
  const locales = localesIn(body, channel);
  const locale = search.locale !== undefined && locales.includes(search.locale) ? search.locale : BASE;
  const { data: settings } = useQuery(workspaceQuery(workspace));
  const ofWorkspace = settings?.body.locale ?? 'en';
  const beside = besideOf(search.beside, locale, locales, ofWorkspace);
  /** Another channel or language has its own beside it. */
  const go = (next: TemplateSearch): void => void navigate({ search: { channel, locale, ...next }, replace: true });
  const event = useEvent(workspace, name);
  const [message, setMessage] = useState<Previewed | null>(null);
  const available = event.fields.map(({ path }) => path);
  const inNewest = useMissing(draft, channel);
  const { complete, variables } = useCompletion(workspace, name, event.fields);
  const asked = {
    workspace,
    name,
    channel,
    locale,
    event: event.text,
    drafts: hasDraft,
    of: wordOf(JSON.stringify(body)),
  };
  const shown = beside === null ? [locale] : [locale, beside];
  // A fault that no field shows is said all the same.
  const others = draft.faults.filter(({ path }) => !isAtField(path, channel, shown));
  return (
    <div className={cls(styles.sides)} data-columns={beside === null ? 1 : 2}>
      <div className={cls(styles.side)}>
        <Card title="Parts">
          <div className={cls(styles.bar)}>
            {channels.length > 1 && (
              <Segments
                label="Channel"
                options={channels.map((id) => ({ id, name: CHANNEL_NAMES[id] }))}
                chosen={channel}
                onChoose={(next) => go({ channel: next, locale: BASE })}
              />
            )}
            {CHANNELS.filter((one) => !channels.includes(one)).map((one) => (
              <Button
                key={one}
                onPress={() => {
                  draft.change((before) => withChannel(before, one));
                  go({ channel: one, locale: BASE });
                }}
              >
                <Plus size={16} aria-hidden />
                {CHANNEL_NAMES[one]}
              </Button>
            ))}
          </div>
          <Languages
            draft={draft}
            channel={channel}
            locale={locale}
            beside={beside}
            ofWorkspace={ofWorkspace}
            onGo={go}
          />
          <FormFaults faults={others} />
          <PartFields draft={draft} channel={channel} locales={shown} complete={complete} variables={variables} />
        </Card>
      </div>
      <div className={cls(styles.side)}>
        <Card title="Preview">
          <NativeSelect
            label="Event of the preview"
            options={event.options}
            value={event.chosen}
            onChange={(id) => void event.choose(id)}
          />
          {event.error && <Problem error={event.error} />}
          <details>
            <summary>Show the event</summary>
            <CodeField label="Event as JSON" language="json" minLines={6} value={event.text} onChange={event.setText} />
          </details>
          <Suspense>
            <Preview
              asked={asked}
              isReady={saving === 'saved' && event.isKnown}
              hasFaults={draft.faults.length > 0}
              onMessage={setMessage}
            />
          </Suspense>
        </Card>
        {message && <Variables message={message} available={available} inNewest={inNewest} />}
        {draft.resource && <AsFile kind="templates" workspace={workspace} name={name} number={draft.resource.number} />}
      </div>
      {isTesting && (
        <Suspense>
          <SendTest
            workspace={workspace}
            template={name}
            channel={channel}
            isPublished={channelsIn(draft.resource?.body).includes(channel)}
            users={event.users}
            event={event.text}
            locale={locale}
            hasDraft={hasDraft}
            onClose={onTested}
          />
        </Suspense>
      )}
    </div>
  );
}
