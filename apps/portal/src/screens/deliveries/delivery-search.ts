/** Filters of the list and the open delivery, all kept in the address. */
export type DeliverySearch = {
  readonly state?: string;
  /** An address, or its beginning. */
  readonly recipient?: string;
  readonly person?: string;
  readonly notification?: string;
  readonly reason?: string;
  readonly channel?: string;
  readonly unique_id?: string;
  readonly event?: string;
  /** RFC 3339, UTC: a pasted link shows the same to whoever opens it later. */
  readonly from?: string;
  readonly to?: string;
  readonly open?: string;
};

const NAMES = [
  'state',
  'recipient',
  'person',
  'notification',
  'reason',
  'channel',
  'unique_id',
  'event',
  'from',
  'to',
  'open',
] as const;

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

/** The same search with one word of it changed; an empty word takes it out. */
export function withWord(search: DeliverySearch, name: keyof DeliverySearch, value: string): DeliverySearch {
  const { [name]: _before, ...rest } = search;
  return value === '' ? rest : { ...rest, [name]: value };
}

/** What the search field looks for: one of these at a time. */
export const SOUGHT = ['recipient', 'person', 'unique_id', 'event', 'notification', 'reason'] as const;
export type Sought = (typeof SOUGHT)[number];

export const SOUGHT_NAMES: Readonly<Record<Sought, string>> = {
  recipient: 'Recipient',
  person: 'Person',
  unique_id: 'unique_id',
  event: 'Event id',
  notification: 'Notification',
  reason: 'Reason',
};

/** Which of them a search has; the first where it has several. */
export const soughtOf = (search: DeliverySearch): Sought =>
  SOUGHT.find((name) => search[name] !== undefined) ?? 'recipient';
