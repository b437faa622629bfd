/** Returns a fault as one text: what is wrong, then what to do. */
export const faultText = ({ message, fix }: { readonly message: string; readonly fix: string }): string =>
  `${message}.${fix === '' ? '' : ` ${fix}`}`;
