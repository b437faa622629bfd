import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { useMaySee } from '../../ui/if-allowed.tsx';
import { ListScreen, type Columns, type ListAction } from '../../ui/list-screen.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Time } from '../../ui/time.tsx';
import { CONSENTS, importConsents, loadConsents } from './calls.ts';
import { consentWords, isOut, type Consent } from './entry-text.ts';

const FROM = '/workspaces/$w/opt-outs';

const SetOptOut = lazyPart(() => import('./set-opt-out.tsx').then(({ SetOptOut: loaded }) => loaded));
const ChosenOptOuts = lazyPart(() => import('./allow-opt-outs.tsx').then(({ ChosenOptOuts: loaded }) => loaded));
const AllOptOuts = lazyPart(() => import('./allow-opt-outs.tsx').then(({ AllOptOuts: loaded }) => loaded));
const OptOutPanel = lazyPart(() => import('./opt-out-panel.tsx').then(({ OptOutPanel: loaded }) => loaded));
const ImportFile = lazyPart(() => import('./import-file.tsx').then(({ ImportFile: loaded }) => loaded));

const keyOf = ({ workspace, person }: Consent): string => `${workspace} ${person}`;

const COLUMNS: Columns<Consent> = {
  what: (consent) => (isOut(consent) ? 'Opted out' : 'Opted in again'),
  who: ({ person }) => person,
  about: consentWords,
  time: ({ updated_at: at }) => at !== null && <Time at={at} ago />,
};

/** What people said that they want no more, with how they said it, and the way to say it in their place. */
export function OptOuts(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, person = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const maySee = useMaySee();
  const off = useMay('operate', w);
  const load = useMemo(() => loadConsents(w, person), [w, person]);
  const list = usePages([CONSENTS, w, person], maySee ? load : null);
  const show = (search: { readonly open?: string; readonly person?: string }): void =>
    void navigate({ search, replace: true });
  const found = person === '' ? {} : { person };
  const isOne = w !== EVERY_WORKSPACE;
  const headActions: readonly ListAction[] = [
    { name: 'Export as CSV', href: `/v1/workspaces/${encodeURIComponent(w)}/consents/export` },
    {
      name: 'Import…',
      off,
      renderDialog: (close) => (
        <ImportFile
          title="Import opt-outs"
          note="The first row names the columns: person or address, and optionally target (all, category, notification), name, channel, opted_out and at. A row without a target opts out of everything."
          workspace={w}
          call={{ method: 'POST', path: `/v1/workspaces/${w}/consents/import` }}
          queryKey={[CONSENTS]}
          send={importConsents}
          command={`npx carillon consents import file.csv --workspace ${w}`}
          onClose={close}
        />
      ),
    },
    {
      name: 'Opt somebody out',
      kind: 'main',
      off,
      renderDialog: (close) => <SetOptOut workspace={w} person={person} onClose={close} />,
    },
  ];
  return (
    <ListScreen
      title="Opt-outs"
      lead="Messages that people do not want any more. They still get transactional notifications."
      what="opt-outs"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      headActions={isOne ? headActions : []}
      filters={[
        {
          search: 'Person or address',
          value: person,
          onFind: (word) => show(word === '' ? {} : { person: word }),
        },
      ]}
      actions={[
        isOne &&
          list.items?.some(isOut) === true && {
            name: 'Undo all matching opt-outs…',
            kind: 'quiet',
            off,
            renderDialog: (close) => <AllOptOuts workspace={w} person={person} onClose={close} />,
          },
        person !== '' && { name: 'Clear', kind: 'quiet', run: () => show({}) },
      ]}
      selection={{ scope: `${w} ${person}`, bar: ChosenOptOuts }}
      open={open ?? null}
      onOpen={(next) => show({ ...found, open: next })}
      onClose={() => show(found)}
      panelLabel="Opt-outs of one person"
      renderPanel={({ key, item, isListRead, onClose }) => (
        <Part loading={<Loading what="the person" />}>
          <OptOutPanel key={key} id={key} consent={item} isListRead={isListRead} onClose={onClose} />
        </Part>
      )}
      renderEmpty={(button) =>
        person === '' ? (
          <Empty title="Nobody has opted out" action={button('Opt somebody out')}>
            People opt out with the link in a message or the button of their mail program, or you do it for them.
          </Empty>
        ) : (
          <Empty title={`${person} has no opt-outs`} action={<Button onPress={() => show({})}>Clear</Button>}>
            Search by the id that a rule gives a person, or by a whole address. Upper and lower case do not matter.
          </Empty>
        )
      }
    />
  );
}
