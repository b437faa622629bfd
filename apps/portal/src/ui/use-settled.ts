import { useEffect, useState } from 'react';

/** A value that follows another after a pause, in milliseconds: what is typed is not asked about letter by letter. */
export function useSettled<Value>(value: Value, pause: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return settled;
}
