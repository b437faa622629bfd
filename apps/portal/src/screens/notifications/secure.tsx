export const NotificationSecure = (): null => null;
