//! Turns the results of runs into tables, means with intervals, pictures and an HTML page. Imports
//! no engine.
//!
//! The output of this crate depends only on what the caller passes: results of runs, and texts such
//! as titles. No function reads a clock, a file or the system's fonts, so the same results give the
//! same bytes everywhere. For the same bytes on every machine, the arithmetic uses only `+ - * /`
//! and square roots: the functions of C libraries differ in the last bit.

mod alike;
mod answers;
mod axis_title;
mod binomial;
mod chosen_answers;
mod chosen_groups;
mod chosen_metrics;
mod chosen_runs;
mod claims;
mod compare;
mod contrast;
mod groups;
mod html;
mod median;
mod merged_groups;
mod number;
mod page;
mod paired;
mod paper_item;
mod picture;
mod points;
mod replication;
mod student_t;
mod swept_key;
mod table;
mod trust;

pub use answers::{Heading, headings};
pub use axis_title::{axis_title, axis_unit};
pub use binomial::binomial_interval;
pub use chosen_groups::check_flow_groups;
pub use chosen_runs::{runs_where, where_words, which_runs};
pub use claims::{ClaimLine, ClaimTrial, claims_markdown, claims_text, verdict_counts};
pub use compare::{ComparedMetric, ComparedPoint, FolderComparison, compare};
pub use contrast::SeedsToDecide;
pub use groups::{MeanOfPoint, Members, flat_metrics, groups, means_of_points};
pub use median::{Median, median};
pub use number::{count, figure, fixed};
pub use page::{
    DRAWN_BYTES_MAX, GENERATOR, PAGE_BYTES_MAX, POINTS_MAX, PageFile, PageScript, PageSection,
    RunToDraw, drawn_json, page,
};
pub use paired::{PairedComparison, PairedMetric, PairedPoint, PairedValues, paired};
pub use paper_item::{AbsentItem, PaperItem, PaperTable, Shown, TableCell};
pub use picture::{CdfInput, CdfSample, cdf_picture};
pub use picture::{DRAWN_BYTES, Labels, Picture, Shape, is_drawn, without_glyph};
pub use picture::{
    Drawing, Plate, PlateBox, PlateCurve, PlateCurves, PlateLine, PlatePanel, PlatePoint,
    PlateTimes, Scale, plate_picture,
};
pub use picture::{OVERLAY_FLOWS_MAX, OVERLAY_PANELS, Recording, overlay_panels};
pub use picture::{OverTime, Overlay, OverlayPair, OverlayPanel, overlay_picture};
pub use picture::{RunChoice, RunPanel, RunPicture, chosen_run_picture, run_picture};
pub use picture::{SweepChoice, chosen_sweep_pictures, sweep_pictures};
pub use points::Points;
pub use replication::{Replication, ReplicationSection};
pub use student_t::{Interval, interval, t_975};
pub use swept_key::value_text;
pub use table::{
    Align, ComparisonLook, Table, TableFormat, Tables, WIDTH, chosen_sweep_tables, compare_table,
    compared_tables, group_table, paired_table, paired_tables, published_table, published_tables,
    run_html, run_table, run_tables, split_unit, sweep_html, sweep_table,
};
pub use table::{PrintedAs, PublishedCell, PublishedRow};
pub use trust::{Evidence, Subject, TrustLine, trust, trust_elsewhere};
