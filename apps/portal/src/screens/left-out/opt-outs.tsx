import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { usePages } from '../../api/page-list.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { focusList } from '../../ui/focus-list.ts';
import { IfAllowed, useUnseen } from '../../ui/if-allowed.tsx';
import { List } from '../../ui/list.tsx';
import { useMedia } from '../../ui/media.ts';
import { Actions, PageHead } from '../../ui/page.tsx';
import { Search } from '../../ui/search.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { RowCells } from '../../ui/row-cells.tsx';
import { Split } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { useChoice } from '../../ui/use-choice.ts';
import { CONSENTS, importConsents, loadConsents } from './calls.ts';
import { consentWords, isOut, type Consent } from './left-out-words.ts';
import styles from './left-out.module.css';

const FROM = '/workspaces/$w/opt-outs';

const SetOptOut = lazyPart(() => import('./set-opt-out.tsx').then(({ SetOptOut: loaded }) => loaded));
const ChosenOptOuts = lazyPart(() => import('./allow-opt-outs.tsx').then(({ ChosenOptOuts: loaded }) => loaded));
const AllOptOuts = lazyPart(() => import('./allow-opt-outs.tsx').then(({ AllOptOuts: loaded }) => loaded));
const OptOutPanel = lazyPart(() => import('./opt-out-panel.tsx').then(({ OptOutPanel: loaded }) => loaded));
const ImportFile = lazyPart(() => import('./import-file.tsx').then(({ ImportFile: loaded }) => loaded));

const keyOf = ({ workspace, person }: Consent): string => `${workspace} ${person}`;

const row = (one: Consent): ReactNode => (
  <RowCells
    what={isOut(one) ? 'Opted out' : 'Back again'}
    who={one.person}
    about={consentWords(one)}
    time={one.updated_at !== null && <Time at={one.updated_at} ago />}
  />
);

/** What people said that they want no more, with how they said it, and the way to say it in their place. */
export function OptOuts(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, person = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const isKnown = useIsMeKnown();
  const unseen = useUnseen();
  const off = useMay('operate', w);
  const [asked, setAsked] = useState<'set' | 'import' | 'allow' | null>(null);
  const load = useMemo(() => loadConsents(w, person), [w, person]);
  const { items, error, retry, more } = usePages(
    [CONSENTS, w, person],
    isKnown && unseen.reason === null ? load : null,
  );
  const choice = useChoice(items, keyOf, `${w} ${person}`);
  const isPhone = useMedia('(max-width: 640px)');
  const show = (search: { readonly open?: string; readonly person?: string }): void =>
    void navigate({ search, replace: true });
  const found = person === '' ? {} : { person };
  const close = (): void => {
    show(found);
    focusList();
  };
  const isOne = w !== EVERY_WORKSPACE;
  const setButton = isOne && (
    <Button kind="main" off={off} onPress={() => setAsked('set')}>
      Opt somebody out
    </Button>
  );
  return (
    <>
      <PageHead
        title="Opt-outs"
        lead="What people said that they want no more. Only transactional notifications come all the same."
      >
        {isOne && unseen.reason === null && (
          <Actions>
            <a href={`/v1/workspaces/${encodeURIComponent(w)}/consents/export`} download>
              Export as CSV
            </a>
            <Button off={off} onPress={() => setAsked('import')}>
              Import…
            </Button>
            {setButton}
          </Actions>
        )}
      </PageHead>
      {asked === 'set' && (
        <Part>
          <SetOptOut workspace={w} person={person} onClose={() => setAsked(null)} />
        </Part>
      )}
      {asked === 'allow' && (
        <Part>
          <AllOptOuts workspace={w} person={person} onClose={() => setAsked(null)} />
        </Part>
      )}
      {asked === 'import' && (
        <Part>
          <ImportFile
            title="Import opt-outs"
            note="Reads the columns person or address, and target (all, category, notification), name, channel, opted_out and at where there are any; the first row names them. Without a target a row means everything."
            workspace={w}
            call={{ method: 'POST', path: `/v1/workspaces/${w}/consents/import` }}
            queryKey={[CONSENTS]}
            send={importConsents}
            command={`npx carillon consents import file.csv --workspace ${w}`}
            onClose={() => setAsked(null)}
          />
        </Part>
      )}
      <IfAllowed {...unseen}>
        <Split
          panelLabel="Opt-outs of one person"
          panel={
            open === undefined ? null : (
              <Part loading={<Loading what="the person" />}>
                <OptOutPanel
                  key={open}
                  id={open}
                  consent={items?.find((one) => keyOf(one) === open)}
                  isListRead={items !== undefined}
                  onClose={close}
                />
              </Part>
            )
          }
          list={
            <>
              <div className={cls(styles.tools)}>
                <Search
                  label="Person or address"
                  found={person}
                  onFind={(word) => show(word === '' ? {} : { person: word })}
                />
                {isOne && items?.some(isOut) && (
                  <Button kind="quiet" off={off} onPress={() => setAsked('allow')}>
                    Send to all of them again…
                  </Button>
                )}
                {person !== '' && (
                  <Button kind="quiet" onPress={() => show({})}>
                    Clear
                  </Button>
                )}
              </div>
              {error && <Problem error={error} onRetry={retry} />}
              {!items && !error && <Loading what="opt-outs" />}
              {items?.length === 0 &&
                (person === '' ? (
                  <Empty title="Nobody has opted out" action={setButton}>
                    People come here by the link in a message, by the button of their mail program, and where somebody
                    says it in their place.
                  </Empty>
                ) : (
                  <Empty
                    title={`${person} never said anything`}
                    action={<Button onPress={() => show({})}>Clear</Button>}
                  >
                    A person is found by the id that a rule gives them, or by a whole address, whatever its case and
                    form.
                  </Empty>
                ))}
              {items !== undefined && items.length > 0 && (
                <List
                  label="Opt-outs"
                  items={items}
                  keyOf={keyOf}
                  row={row}
                  rowHeight={isPhone ? 64 : 40}
                  chosen={open ?? null}
                  onOpen={(next) => show({ ...found, open: next })}
                  onEnd={more}
                  choice={choice}
                />
              )}
              {choice.isBegun && (
                <Part>
                  <ChosenOptOuts chosen={choice.rows} onClear={choice.clear} />
                </Part>
              )}
            </>
          }
        />
      </IfAllowed>
    </>
  );
}
