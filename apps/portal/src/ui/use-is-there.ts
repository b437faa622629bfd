import { useEffect, useState } from 'react';

/**
 * False until the component has been drawn once. What opens at once gives the focus back later to what had it when it opened: so it opens
 * after its own button is there and has the focus.
 */
export function useIsThere(): boolean {
  const [isThere, setThere] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setThere(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  return isThere;
}
