/**
 * How carriers count the text of an SMS (3GPP TS 23.038). Text of the GSM alphabet has 160 characters in one segment and
 * 153 in each of several; any other character makes all of it UCS-2, with 70 and 67.
 */
export type SmsEncoding = 'GSM-7' | 'UCS-2';

export type SmsSegments = {
  readonly encoding: SmsEncoding;
  /** Segments that the carrier bills. 0 for no text. */
  readonly segments: number;
  /** Units in use: septets of GSM-7, where `€` and the like take two, or UTF-16 units of UCS-2. */
  readonly units: number;
  /** The first character outside the GSM alphabet; null where there is none. It makes a text dearer, so people see it. */
  readonly firstOutsideGsm: string | null;
};

const ONE_SEPTET = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Characters that are sent as an escape and a septet, both in one segment. */
const TWO_SEPTETS = new Set('\f^{}\\[~]|€');

const CAPACITY: Readonly<Record<SmsEncoding, { readonly alone: number; readonly each: number }>> = {
  'GSM-7': { alone: 160, each: 153 },
  'UCS-2': { alone: 70, each: 67 },
};

/** Segments of a text as Twilio and carriers count them; held against Twilio's own calculator by a law. */
export function smsSegments(text: string): SmsSegments {
  const characters = Array.from(text);
  const outside = characters.find((character) => !ONE_SEPTET.has(character) && !TWO_SEPTETS.has(character));
  const encoding: SmsEncoding = outside === undefined ? 'GSM-7' : 'UCS-2';
  const sizes = characters.map((character) =>
    encoding === 'UCS-2' ? character.length : TWO_SEPTETS.has(character) ? 2 : 1,
  );
  const units = sizes.reduce((sum, size) => sum + size, 0);
  return { encoding, segments: segmentsOf(sizes, units, CAPACITY[encoding]), units, firstOutsideGsm: outside ?? null };
}

/** A character is never cut in two, so a segment may end one unit early. */
function segmentsOf(sizes: readonly number[], units: number, { alone, each }: { alone: number; each: number }): number {
  if (units <= alone) return units === 0 ? 0 : 1;
  let segments = 1;
  let room = each;
  for (const size of sizes) {
    if (size > room) {
      segments += 1;
      room = each;
    }
    room -= size;
  }
  return segments;
}
