import type { ChannelName, StopWord } from '@carillon/domain';
import type { Clock, SuppressionList } from '@carillon/ports';

/** Who answered, on which channel, and the workspaces that send through the sender that was answered. */
export type StopAnswer = {
  readonly channel: ChannelName;
  readonly address: string;
  /** One of a workspace's own sender; of the deployment's, all that send through it. */
  readonly workspaces: readonly string[];
  /** How the provider told it, for people; without the body. */
  readonly detail: string;
};

/**
 * What a STOP or START does, before its provider is answered: STOP holds the address back in every workspace of the sender,
 * START takes away what STOP said and nothing else. May be done again. HELP does nothing: the provider answers it.
 */
export async function applyStopWord(
  word: StopWord,
  { channel, address, workspaces, detail }: StopAnswer,
  { suppressions, clock }: { readonly suppressions: SuppressionList; readonly clock: Clock },
): Promise<void> {
  if (word === 'help') return;
  if (word === 'start') {
    await Promise.all(workspaces.map((workspace) => suppressions.remove(workspace, channel, address, 'stop')));
    return;
  }
  const at = clock.now();
  await suppressions.addAll(
    workspaces.map((workspace) => ({ workspace, channel, address, source: 'stop', detail, deliveryId: null, at })),
  );
}
