import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Id } from '../../ui/text.tsx';
import type { Tested } from './verdict.ts';

/** Ids that a question names; of more their number. */
const MAX_NAMED = 10;

/** Asks the partner in earnest what it says of the people of the tried event, after somebody has confirmed it. */
export function AskPartner({
  workspace,
  asks: { integration, user_ids: ids },
  isBusy,
  onAsk,
}: {
  readonly workspace: string;
  readonly asks: NonNullable<Tested['asks']>;
  readonly isBusy: boolean;
  readonly onAsk: () => void;
}): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const off = useMay(['configure', 'operate'], workspace);
  if (ids.length === 0) return null;
  const people = ids.length === 1 ? '1 person' : `${ids.length} people`;
  return (
    <p>
      {/* Not disabled: the focus comes back to it from the dialog. */}
      <Button off={off} isPending={isBusy} onPress={() => setAsked(true)}>
        Ask {integration} now…
      </Button>
      <Dialog
        title={`Ask ${integration} about ${people}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        foot={
          <>
            <Button onPress={() => setAsked(false)}>Cancel</Button>
            <Button
              kind="main"
              onPress={() => {
                setAsked(false);
                onAsk();
              }}
            >
              Ask about {people}
            </Button>
          </>
        }
      >
        <p>
          Carillon calls the real partner, with the key of the integration. Nobody is notified, and the answer is not
          stored.
        </p>
        <p>
          User ids:{' '}
          {ids.slice(0, MAX_NAMED).map((id) => (
            <Id key={id}>{id} </Id>
          ))}
          {ids.length > MAX_NAMED && `and ${ids.length - MAX_NAMED} more`}
        </p>
      </Dialog>
    </p>
  );
}
