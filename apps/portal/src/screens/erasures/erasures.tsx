import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { Empty } from '../../ui/answers.tsx';
import { Facts } from '../../ui/text.tsx';
import { useMaySee } from '../../ui/if-allowed.tsx';
import { ListScreen, type Columns, type ListAction } from '../../ui/list-screen.tsx';
import { Panel } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { ErasePerson } from './erase-person.tsx';
import { countLines, entriesText, remainsName } from './erasure-text.ts';
import { ERASURES, loadErasures, type Erasure } from './queries.ts';

const FROM = '/workspaces/$w/erasures';

const keyOf = ({ id }: Erasure): string => id;
const COLUMNS: Columns<Erasure> = {
  what: ({ erased_at: at }) => (at === null ? 'Under way' : 'Erased'),
  who: ({ reason }) => reason,
  about: ({ erased }) => entriesText(erased),
  time: ({ requested_at: at }) => <Time at={at} ago />,
};

/** Erasures of a workspace with their certificates, newest first. */
export function Erasures(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const maySee = useMaySee();
  const ownsDeployment = useMay('people', null) === null;
  const load = useMemo(() => loadErasures(w), [w]);
  const list = usePages([ERASURES, w], maySee ? load : null);
  const headActions: readonly ListAction[] = [
    ...(ownsDeployment ? [{ name: 'Export the list for restore', href: '/v1/erasures' }] : []),
    {
      name: 'Erase a person',
      kind: 'danger',
      renderDialog: (close) => <ErasePerson workspace={w} person="" onClose={close} />,
    },
  ];
  return (
    <ListScreen
      title="Erasures"
      lead="Certificates of erased people. They name nobody: Carillon keeps keyed hashes only."
      what="erasures"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      headActions={headActions}
      open={open ?? null}
      onOpen={(id) => void navigate({ search: { open: id }, replace: true })}
      onClose={() => void navigate({ search: {}, replace: true })}
      panelLabel="Certificate"
      renderPanel={({ key, item, isListRead, onClose }) => (
        <Panel id={key} title="Certificate" onClose={onClose}>
          {item ? <Certificate erasure={item} /> : isListRead && <p>This erasure is not in the list.</p>}
        </Panel>
      )}
      renderEmpty={(button) => (
        <Empty title="Nobody was erased" action={button('Erase a person')}>
          Erase a person who asks you to delete what you hold about them. You see what is found before you confirm.
        </Empty>
      )}
    />
  );
}

function Certificate({ erasure }: { readonly erasure: Erasure }): ReactNode {
  const { id, job, reason, requested_by: by, requested_at: asked, erased_at: ended, erased, remains } = erasure;
  return (
    <>
      <Facts
        facts={[
          ['Erasure', id],
          ['Job', job],
          ['Reason', reason],
          ['Requested by', by.name ?? by.id],
          ['Requested', <Time key="asked" at={asked} />],
          ['Erased', ended === null ? 'Under way' : <Time key="ended" at={ended} />],
          ['Emptied', countLines(erased).join(', ')],
        ]}
      />
      {remains.length > 0 && (
        <>
          <h3>Data kept after the erasure</h3>
          <ul aria-label="Data kept after the erasure">
            {remains.map(({ where, until, detail }) => (
              <li key={where}>
                {remainsName(where)}: {detail}
                {until !== null && (
                  <>
                    {' '}
                    until <Time at={until} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
