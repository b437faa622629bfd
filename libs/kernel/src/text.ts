/**
 * The control characters of ASCII and Latin-1 (Unicode category Cc), line ends and tabs among them. No name, address, id
 * or header holds one.
 */
export const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
