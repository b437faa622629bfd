import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Quiet } from '../../ui/page.tsx';
import { Id } from '../../ui/text.tsx';
import { CHANNEL_WORDS, kindWords, type Channel } from './account-kinds.ts';
import { accountsFor, moved, withAccounts } from './priority.ts';
import { sendingQuery } from './queries.ts';
import { describeDestination } from './sending-words.ts';
import styles from '../setup/setup.module.css';

/**
 * Accounts of a notification's channel in order of priority. The next one is used if the first certainly accepted
 * nothing. `offered`: accounts of the workspace that carry the channel.
 */
export function ChannelAccounts({
  draft,
  channel,
  offered,
}: {
  readonly draft: Pick<EditedDraft<'notifications'>, 'workspace' | 'name' | 'body' | 'change'>;
  readonly channel: Channel;
  readonly offered: readonly string[];
}): ReactNode {
  const off = useMay('configure', draft.workspace);
  if (!draft.body) return null;
  const named = accountsFor(draft.body, channel);
  const set = (accounts: readonly string[]): void => draft.change((before) => withAccounts(before, channel, accounts));
  const others = offered.filter((name) => !named.includes(name));
  const use = named.length === 0 ? 'Use this account' : 'Use as fallback';
  const about = `${CHANNEL_WORDS[channel]} of ${draft.name}`;
  return (
    <div className={cls(styles.group)}>
      {named.length === 0 && <DefaultWords workspace={draft.workspace} channel={channel} />}
      {named.length > 0 && (
        <ol aria-label={`Accounts for ${about}, by priority`}>
          {named.map((name, index) => (
            <li key={name} className={cls(styles.rank)}>
              <span>
                {index === 0 ? 'First' : index === 1 ? 'Then' : 'After that'} <Id>{name}</Id>
              </span>
              {named.length > 1 && (
                <>
                  <Button
                    off={off}
                    isDisabled={index === 0}
                    aria-label={`Move up ${name} for ${about}`}
                    onPress={() => set(moved(named, name, -1))}
                  >
                    Move up
                  </Button>
                  <Button
                    off={off}
                    isDisabled={index === named.length - 1}
                    aria-label={`Move down ${name} for ${about}`}
                    onPress={() => set(moved(named, name, 1))}
                  >
                    Move down
                  </Button>
                </>
              )}
              <Button
                off={off}
                aria-label={`Stop using ${name} for ${about}`}
                onPress={() => set(named.filter((one) => one !== name))}
              >
                Stop using
              </Button>
            </li>
          ))}
        </ol>
      )}
      {others.map((name) => (
        <div key={name} className={cls(styles.rank)}>
          <span>
            <Id>{name}</Id>
          </span>
          <Button off={off} aria-label={`${use}: ${name} for ${about}`} onPress={() => set([...named, name])}>
            {use}
          </Button>
        </div>
      ))}
    </div>
  );
}

/** Shows the account that a channel uses if the notification names none. */
function DefaultWords({ workspace, channel }: { readonly workspace: string; readonly channel: Channel }): ReactNode {
  const { data } = useQuery(sendingQuery(workspace));
  const [first] = data?.channels.find((one) => one.channel === channel)?.accounts ?? [];
  return (
    <Quiet>
      {first === undefined ? 'No account chosen.' : `${describeDestination(first, kindWords(first.kind))}.`}
    </Quiet>
  );
}
