import type { PressEvent } from 'react-aria-components';

/**
 * For a button that another one replaces as soon as that is loaded: a press counts from its beginning, since its end
 * may meet the other. A finger may begin to scroll there, so its press counts at its end.
 */
export const earlyPress = (
  press: () => void,
): { readonly onPressStart: (event: PressEvent) => void; readonly onPress: () => void } => ({
  onPressStart: ({ pointerType }) => {
    if (pointerType !== 'touch') press();
  },
  onPress: press,
});
