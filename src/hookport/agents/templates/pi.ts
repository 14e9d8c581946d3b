const ROOT = "PI_PROJECT_DIR";
const FOLDER = /^(.+)[\\/]\.pi[\\/]extensions$/;
const STOP = "agent_end"; // what a hook that keeps the agent going runs on
const HANDLED = { action: "handled" };

const transform = (event, text) => ({ action: "transform", text, images: event.images });

// The host keeps its own reference to the input, so its keys are changed.
const change = (event, input) => rewrite(event.input, input);

const changed = () => undefined;
