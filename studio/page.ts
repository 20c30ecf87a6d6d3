/** Entry point of a saved page, which contains one thread. */
import "./style/index.css";
// Import order matters: the router reads the address that `shared-place` sets.
import "./shared-place.js";
import "./main.js";
