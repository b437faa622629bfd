/**
 * What parts of an expression cost, in steps of about ten nanoseconds. Steps and not time are counted, so that an event comes
 * to the same end everywhere; that a step is a step is measured: `node test/bench/prices.ts` prints what each of these takes
 * at its worst, and says where a price is too low. Measured on 22 November 2026, on two cores that others used as well:
 *
 * | part | nanoseconds at worst | price, steps |
 * |---|---|---|
 * | a node of an expression, a turn of a loop | 2 to 12 | 1 each |
 * | a call of a function | 30 to 120 | 5 |
 * | `timestamp(text)`, `string(time)` | 700 to 1,100 | 100 |
 * | `duration(text)` | 640 | 80 |
 * | `int(text)`, `uint(text)`, `double(text)` | 90 to 160 | 15, and a character a half |
 * | a part of a time in UTC | 200 | 20 |
 * | the same in a zone | 5,800 | 600 |
 * | `localTime` | 36,000, in a gap of the clock 140,000 | 3,600, and 10,500 in a gap |
 * | a zone that there is not | 25,000 to 35,000 | 3,500 |
 * | `matches`, a character and instruction of the pattern | 0 to 25; `(ab?){50}$` on `aaa…` is the worst | 2.5, and 4 a character |
 * | searching text, a character | 0.5 for one character sought, 6 for several | 0.06, 0.6 |
 * | searching from the end, a character | 0.5, and 0.6 for each character sought | 0.06, and 0.06 for each |
 * | reading or copying text, a character | 0.1 to 0.9 | 0.1 |
 * | comparing texts by order, a character | 2.5 | 0.25 |
 * | text that has to be cut into characters, a character | 10 to 21 | 2 |
 * | an element of a list that is made, copied or joined | 1 to 36 | 3 |
 * | a key of an object that is listed | 60 to 76 | 8 |
 * | two values compared, in lists and objects | 14 to 31 | 3 |
 */
export const CALL = 5;
export const TIME_FROM_TEXT = 100;
export const SPAN_FROM_TEXT = 80;
export const NUMBER_FROM_TEXT = 15;
export const TIME_TO_TEXT = 100;
export const CLOCK_UTC = 20;
export const CLOCK_IN_ZONE = 600;
/** Six readings of a clock in a zone. */
export const LOCAL_TIME = 6 * CLOCK_IN_ZONE;
/** The end of a gap is found by up to 17 more readings. */
export const CLOCK_IN_GAP = 10_500;
export const NO_SUCH_ZONE = 3_500;
export const LIST_ELEMENT = 3;
export const OBJECT_KEY = 8;
export const VALUES_COMPARED = 3;
/** Each character. */
export const TEXT_READ = 0.1;
export const TEXT_ORDERED = 0.25;
export const TEXT_CUT = 2;
const SEARCH_ONE = 0.06;
const SEARCH_SEVERAL = 0.6;

export const searchPrice = (text: number, sought: number): number =>
  1 + text * (sought < 2 ? SEARCH_ONE : SEARCH_SEVERAL);

export const searchBackPrice = (text: number, sought: number): number => 1 + text * SEARCH_ONE * (1 + sought);

/** An automaton at its worst looks at all its instructions for each character. */
export const matchPrice = (text: number, instructions: number): number => 4 + text * (4 + 2.5 * instructions);
