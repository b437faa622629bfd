/** What the list of deliveries is filtered by, and what is open beside it; all of it stands in the address. */
export type DeliverySearch = {
  readonly state?: string;
  /** An address, or its beginning. */
  readonly recipient?: string;
  readonly notification?: string;
  readonly reason?: string;
  readonly channel?: string;
  readonly unique_id?: string;
  readonly event?: string;
  readonly open?: string;
};

const NAMES = ['state', 'recipient', 'notification', 'reason', 'channel', 'unique_id', 'event', 'open'] as const;

/** Takes of an address what the screen knows; anything else in it means nothing here. */
export function readDeliverySearch(words: Readonly<Record<string, unknown>>): DeliverySearch {
  const found = NAMES.flatMap((name) => {
    const word = words[name];
    return typeof word === 'string' && word !== '' ? [[name, word]] : [];
  });
  return Object.fromEntries(found) as DeliverySearch;
}

/** What narrows the list down, without what is open. */
export const filterOf = ({ open: _open, ...filter }: DeliverySearch): Omit<DeliverySearch, 'open'> => filter;
