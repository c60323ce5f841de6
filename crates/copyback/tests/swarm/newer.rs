//! Keys that came after the first cases were drawn. They are drawn from a stream of their own, so that all else of a
//! case stays what it was.

use copyback::config::quantity::Share;
use copyback::config::{Config, GcEnd, Margin, PipelineOrder, Preemption, ThresholdScope, Width};

use crate::draw::Draw;

/// Changes `config`, of the case of this number.
pub fn draw(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/newer"));
    if draw.chance(0.4) {
        config.ssd.gc.threshold_scope = draw.of(&[ThresholdScope::Die, ThresholdScope::Drive]);
    }
    if draw.chance(0.3) {
        let margin = Margin::OfThreshold { of_threshold: Share(draw.share()) };
        if let Width::Threshold { margin: of_width, .. } = &mut config.ssd.gc.width {
            *of_width = margin;
        }
        config.array.protocol.target_margin = margin;
    }
    if draw.chance(0.3) {
        config.ssd.gc.end = GcEnd::OneVictim;
    }
    if let Preemption::SemiPreemptive { pipeline_order, reorder_writes, .. } =
        &mut config.ssd.gc.preemption
    {
        *reorder_writes = draw.chance(0.3);
        *pipeline_order = draw.of(&[
            PipelineOrder::CollectionFollows,
            PipelineOrder::HostFollows,
            PipelineOrder::Either,
            PipelineOrder::Joins,
        ]);
    }
}
