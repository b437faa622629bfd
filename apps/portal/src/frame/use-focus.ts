import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type RefObject } from 'react';

/**
 * Keeps the focus somewhere for whoever uses the keyboard or hears the page. Another screen is read from its beginning, and so is one
 * from which what had the focus went away: a dialog whose opener is gone, a button whose work is done. A button that was off for a
 * moment gets it back.
 */
export function useFocus(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const seen = useRef(pathname);
  useEffect(() => {
    if (seen.current === pathname) return;
    seen.current = pathname;
    main.current?.focus();
  }, [main, pathname]);
  useEffect(() => {
    let last: Element | null = null;
    const remember = ({ target }: Event): void => {
      last = target instanceof Element ? target : null;
    };
    // A click outside all controls removes the focus.
    const forget = (): void => {
      last = null;
    };
    const land = (): void => {
      if (last === null || document.activeElement !== document.body) return;
      if (!last.isConnected) main.current?.focus({ preventScroll: true });
      else if (last instanceof HTMLElement && !last.matches(':disabled')) last.focus({ preventScroll: true });
    };
    // A dialog that goes gives the focus back in the next frame, if it can.
    const observer = new MutationObserver(() => {
      if (last !== null && document.activeElement === document.body) {
        requestAnimationFrame(() => requestAnimationFrame(land));
      }
    });
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    document.addEventListener('focusin', remember);
    document.addEventListener('pointerdown', forget, true);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', remember);
      document.removeEventListener('pointerdown', forget, true);
    };
  }, [main]);
}
